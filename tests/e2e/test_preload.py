"""State that moves is loaded in the pause before its batch for every operator: no task fails, and
the output is exact."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from rheostat.model import Limits
from rheostat.spark.warming.preload import GROUP
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.rescale.job_setting import Setting
from rheostat_lab.rescale.rescale_ways import Live
from rheostat_lab.rescale.stateful_job import StatefulJob
from rheostat_lab.rescale.stateful_rows import QUERIES, Shape
from rheostat_lab.services.broker import Broker

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.thorough,
    pytest.mark.skipif(
        pyspark.__version__ < "4.1", reason="Spark closes what was opened to read only"
    ),
]
PAUSING = Setting(trigger_s=5.0, partitions=6)


@pytest.fixture
def job(
    query: str, broker: Broker, cluster: Cluster, driver: dict[str, str], tmp_path: Path
) -> Iterator[StatefulJob]:
    shape = Shape(
        query=query, state_mb=0.5, value_bytes=1000, rate_per_s=100, live_keys=200, touch_every=3
    )
    with StatefulJob(
        shape, PAUSING, broker, cluster, tmp_path / tmp_path.name, Limits.between(1, 3), 2
    ) as job:
        job.start()
        yield job


@pytest.mark.parametrize("query", QUERIES)
def test_moving_state_is_preloaded_before_its_batch(
    query: str, job: StatefulJob, tmp_path: Path
) -> None:
    live = Live(job, 2, (1, 3), "force", tmp_path / "journal")
    for executors in (3, 2):
        live.rescale(executors)
    live.stop()
    verdict, log = job.finish(), job.follow_log()
    assert verdict.exact, verdict
    assert verdict.expected > 0
    assert job.failures == 0
    assert not log.failed_tasks
    assert log.done_for(GROUP) > 0
    assert maintenance(job) == "doMaintenance", "OpenStores calls it by this name"


def maintenance(job: StatefulJob) -> str:
    """Return the name of Spark's private method that maintains the stores of an executor; raises
    Py4JError if it does not exist."""
    jvm = job.spark.sparkContext._jvm
    stores = jvm.java.lang.Class.forName(
        "org.apache.spark.sql.execution.streaming.state.StateStore$"
    )
    return str(
        stores.getDeclaredMethod(
            "doMaintenance", job.spark.sparkContext._gateway.new_array(jvm.java.lang.Class, 0)
        ).getName()
    )
