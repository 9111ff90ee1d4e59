"""kill -9 of executors while a stateful query is rescaled: the query continues, and its output is
exact."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import psutil
import pyspark
import pytest

from rheostat.model import Limits
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.rescale.job_setting import Setting
from rheostat_lab.rescale.rescale_ways import Live
from rheostat_lab.rescale.stateful_job import StatefulJob
from rheostat_lab.rescale.stateful_rows import QUERIES, Shape
from rheostat_lab.services.broker import Broker

pytestmark = pytest.mark.e2e
CORES, MOST = 4, 6
OPERATORS = [query for query in QUERIES if query != "transform" or pyspark.__version__ >= "4"]
KILLS = 8
"""Number of kills of each kind."""
SHAPE = Shape(
    query="count", state_mb=0.5, value_bytes=1000, rate_per_s=100, live_keys=200, touch_every=3
)
QUICK = Setting(
    trigger_s=0.5,
    partitions=6,
    maintenance_s=0.2,
    options={"spark.sql.streaming.stateStore.minDeltasForSnapshot": "2"},
)


@pytest.fixture
def query() -> str:
    return "count"


@pytest.fixture
def job(
    query: str, broker: Broker, cluster: Cluster, driver: dict[str, str], tmp_path: Path
) -> Iterator[StatefulJob]:
    shape = replace(SHAPE, query=query)
    with StatefulJob(
        shape, QUICK, broker, cluster, tmp_path / tmp_path.name, Limits.between(1, MOST), 2
    ) as job:
        job.start()
        yield job


def phase_is(live: Live, phase: str) -> Callable[[], bool]:
    return lambda: live.last is not None and live.last.rescaling.phase == phase


def kill(cluster: Cluster, choose: Callable[[list[psutil.Process]], psutil.Process]) -> None:
    """Kill an executor; one that ends by itself at that moment does not count."""
    while True:
        with suppress(psutil.NoSuchProcess):
            choose(cluster.executors()).kill()
            return


def test_executors_killed_during_rescales_keep_the_output_exact(
    job: StatefulJob, cluster: Cluster, tmp_path: Path
) -> None:
    live = Live(job, 2, (1, MOST), "force", tmp_path / "journal")

    live.ask(3)
    job.until("the new executor is registered", lambda: len(job.executors()) == 3)
    kill(cluster, itemgetter(-1))  # a new executor, before or while state moves to it
    live.await_steady(3)

    live.ask(2)
    job.until("it shrinks", phase_is(live, "shrinking"))
    kill(cluster, itemgetter(0))  # one that stays, or the one that is being drained
    live.await_steady(2)
    job.run_on(2)

    live.ask(MOST)
    job.until("all that the cluster has", lambda: len(job.executors()) == CORES)
    job.until(
        "it says what lacks",
        lambda: (
            live.last is not None
            and f"waiting for {MOST - CORES} of {MOST}" in live.last.rescaling.detail
        ),
    )
    assert live.last is not None
    assert live.last.target == MOST
    kill(cluster, itemgetter(1))
    job.run_on(2)

    verdict = job.finish()
    assert verdict.exact, verdict
    assert verdict.expected >= SHAPE.loaded_keys
    assert job.failures == 0


@pytest.mark.thorough
@pytest.mark.parametrize("query", OPERATORS)
def test_kills_at_any_time_keep_every_operator_exact(
    query: str, job: StatefulJob, cluster: Cluster, tmp_path: Path
) -> None:
    chance = random.Random(query)
    live, size = Live(job, 2, (1, MOST), "force", tmp_path / "journal"), 2
    for _ in range(KILLS):
        size = chance.choice([n for n in range(1, CORES + 1) if n != size])
        live.ask(size)
        job.pause(chance.uniform(0.0, 5.0))
        kill(cluster, chance.choice)
        live.await_steady(size)
    verdict = job.finish()
    assert verdict.exact, verdict
    assert verdict.expected > 0
    assert job.failures == 0
