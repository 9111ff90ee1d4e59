"""On a real cluster, attaching early or again and keeping the size removes no executor, even if no
policy has decided that size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import rheostat
from rheostat.config import LoopOptions
from rheostat.journal.folder import read
from rheostat.local.local_session import start_session
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.spark.handle import Handle
from rheostat_lab.clusters.standalone_cluster import Cluster

pytestmark = pytest.mark.e2e
WANTED = 3
DEADLINE_S = 300.0
OPTIONS = {
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.cores.max": str(WANTED),
    "spark.decommission.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
}
"""No number of executors is configured: a Standalone cluster then gives all that fit."""


class Holds:
    """Keeps the size."""

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        return hold(observation, "held"), memory


def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def spark(cluster: Cluster, driver: dict[str, str]) -> Iterator[SparkSession]:
    session = start_session(cluster.url, OPTIONS, "size kept")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def attached(spark: SparkSession, journal: Path) -> Handle:
    return rheostat.attach(
        spark, policy=Holds(), limits=(1, 4), journal=journal, loop=LoopOptions(interval_s=0.5)
    )


def decided(handle: Handle, decisions: int = 4) -> list[tuple[int | None, str]]:
    """Wait for some decisions, stop the autoscaler, and return its targets and their phases."""

    def targets() -> list[tuple[int | None, str]]:
        return [
            (record.target, record.rescaling.phase)
            for record in read(handle.journal)
            if record.target is not None
        ]

    until(f"{decisions} decisions", lambda: len(targets()) >= decisions)
    handle.stop()
    return targets()


@pytest.mark.thorough
def test_attaching_removes_no_executor_without_a_decision(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    query = spark.readStream.format("rate").load().writeStream.format("noop").start()
    early = attached(spark, tmp_path / "early")
    with pytest.raises(rheostat.BadInput, match="already sized"):
        attached(spark, tmp_path / "second")
    # On a busy machine executors register at larger intervals; then a smaller size is observed
    # first, and not asserted.
    until("the size that is there", lambda: early.last is not None and early.last.target == WANTED)
    decided(early)
    assert len(cluster.executors()) == WANTED

    context = spark.sparkContext
    nothing = context._jvm.PythonUtils.toScalaMap(context._jvm.java.util.HashMap())
    context._jsc.sc().requestTotalExecutors(1, 0, nothing)  # this ends no executor
    assert {target for target, _ in decided(attached(spark, tmp_path / "again"))} == {WANTED}
    assert len(cluster.executors()) == WANTED
    query.stop()
