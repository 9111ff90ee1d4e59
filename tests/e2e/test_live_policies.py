"""Policies of the literature on a running query: their signals exist, and they decide by them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import rheostat
from rheostat.config import LoopOptions
from rheostat.local.local_session import start_session
from rheostat.model import Decision, Limits, Observation, Record
from rheostat.spark.handle import Handle
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster

pytestmark = pytest.mark.e2e
EXECUTORS = 2
DEADLINE_S = 300.0
PARAMETERS = {
    "hpa": {"metrics": "cpu 0.001"},
    "ds2": {},
    "varga-v1": {"target_utilization": "0.001"},
}


def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def spark(cluster: Cluster, driver: dict[str, str]) -> Iterator[SparkSession]:
    options = session_options(Limits.between(EXECUTORS, EXECUTORS))
    session = start_session(
        cluster.url, {**options, "spark.sql.shuffle.partitions": "2"}, "live policies"
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def decided(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Record]]:
    """Return for each policy its first record with a changed size; all observe the same query at
    the same time."""
    rows = (
        spark.readStream.format("rate")
        .option("rowsPerSecond", 300)
        .option("numPartitions", 2)
        .load()
    )
    counts = (
        rows.selectExpr("value % 10 AS key")
        .groupBy("key")
        .count()
        .writeStream.queryName("counts")
        .outputMode("update")
    )
    query = counts.format("noop").trigger(processingTime="1 second").start()
    records: dict[str, Record] = {}
    handles: list[Handle] = []
    for name, parameters in PARAMETERS.items():
        journal: Path = tmp_path_factory.mktemp(name)
        handle = rheostat.shadow(
            spark,
            policy=name,
            parameters=parameters,
            limits=(1, 8),
            journal=journal,
            loop=LoopOptions(interval_s=1.0),
        )
        handle.watch(partial(keep, records, name))
        handles.append(handle)
    until("every policy has asked for another size", lambda: records.keys() == PARAMETERS.keys())
    yield records
    for handle in handles:
        handle.stop()
    query.stop()


def keep(decided: dict[str, Record], name: str, record: Record) -> None:
    if changes(record, name):
        decided.setdefault(name, record)


def changes(record: Record, policy: str) -> bool:
    """Return whether a batch with rows led to another size; only DS2 may choose a smaller one.

    On a loaded machine no task may run for a complete tick: utilization is 0 then, which scales in.
    """
    if record.raw is None or record.observation is None or not record.observation.batch_rows:
        return False
    change = record.raw.target - (record.observation.size or EXECUTORS)
    return change != 0 if policy == "ds2" else change > 0


def observed(record: Record) -> tuple[Observation, Decision]:
    assert record.observation is not None
    assert record.raw is not None
    return record.observation, record.raw


def test_hpa_decides_by_executor_cpu(decided):
    observation, decision = observed(decided["hpa"])
    assert observation.cpu is not None
    assert 0 < observation.cpu < 2
    assert decision.target > EXECUTORS
    assert observation.cpu_python is not None
    assert observation.load_per_core is not None


def test_ds2_sizes_the_operators_of_the_last_batch(decided):
    observation, decision = observed(decided["ds2"])
    assert observation.stages is not None
    read, count = observation.stages
    ((source, rate),) = (observation.inputs or {}).items()
    assert (read.upstream, count.upstream) == ((source,), (read.name,))
    assert read.rows_in is not None
    assert read.rows_in > count.rows_in > 0  # type: ignore[operator]
    assert all(
        stage.busy_s and stage.tasks == 2 and stage.task_max_s and stage.task_median_s
        for stage in observation.stages
    )
    # The first batches are cold and need many slots, later ones less than one. The expected number
    # is the formula's result for the observed values.
    needs = [
        rate * read.busy_s / read.rows_in,  # type: ignore[operator]
        rate * read.rows_out / read.rows_in * count.busy_s / count.rows_in,  # type: ignore[operator]
    ]
    assert [decision.evidence[f"pi {stage.name}"] for stage in (read, count)] == pytest.approx(
        needs
    )
    assert decision.target == max(1, math.ceil(max(needs) - 1e-6))
    slots = "1 slot" if decision.target == 1 else f"{decision.target} slots"
    assert decision.reason == f"{slots} needed for 2 stages (per operator)"


def test_varga_decides_by_busy_slots(decided):
    observation, decision = observed(decided["varga-v1"])
    assert observation.busy
    assert decision.target > EXECUTORS
