"""An executor creates the class archive, and the next one starts from it: classes are mapped, and
the agent ends before it registers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from rheostat.local.executor_options import arrivals
from rheostat.local.local_session import start_session
from rheostat.model import Limits
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.warming.warm_start import WarmStart, of_session
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.rescale.rate_query import start_rate_query

pytestmark = pytest.mark.e2e
DEADLINE_S = 300.0


def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def warm(
    cluster: Cluster, driver: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> WarmStart:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    warm_start, why = arrivals("a test", cluster.folder)
    assert warm_start is not None, why
    return warm_start


@pytest.fixture
def spark(cluster: Cluster, warm: WarmStart) -> Iterator[SparkSession]:
    options = session_options(Limits(max_executors=2), archive_flags=warm.flags)
    session = start_session(cluster.url, options | warm.settings, "warm arrival")
    yield session
    session.stop()


def test_the_second_executor_starts_from_the_first_ones_archive(
    cluster: Cluster, spark: SparkSession
) -> None:
    executors, warm = internals_of(spark).executors, of_session(spark)
    assert warm is not None
    query = start_rate_query(spark)
    until(lambda: len(query.recentProgress) >= 4)
    warm.train_soon(spark.sparkContext.applicationId, "0")
    until(lambda: warm.trained and "SharedArchiveFile" in warm.options.read_text())
    executors.request_total(2)
    until(lambda: executors.ids() == ["0", "1"])
    second = cluster.executors()[-1]
    assert str(warm.archive) in mapped(second)
    (line,) = warm.classes.with_name("warm-start.log").read_text().splitlines()
    assert line.startswith(f"{second.pid}: classes=done")
    assert "libraries=done" in line
    assert query.isActive
    batches = len(query.recentProgress)
    until(lambda: len(query.recentProgress) > batches + 1)
    query.stop()


def mapped(process: psutil.Process) -> set[str]:
    return {region.path for region in process.memory_maps()}
