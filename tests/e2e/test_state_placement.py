"""Two stateful queries of one real application: their state follows executors that are added,
removed or killed, and every row counts once."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import rheostat
from rheostat.config import LoopOptions
from rheostat.journal.folder import FolderJournal
from rheostat.journal.reading import records
from rheostat.local.local_session import start_session
from rheostat.model import Limits
from rheostat.protocols.executors.memory import GOING, KEEPABLE
from rheostat.spark.handle import Handle
from rheostat.spark.internals.executors import Executors
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.running_queries import Rhythms, RunningQueries
from rheostat.spark.warming.warmup import GROUP
from rheostat.state.places import holders_of
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.rescale.rescale_ways import Scripted

pytestmark = pytest.mark.e2e
DEADLINE_S = 300.0
PARTITIONS = {"counts": 5, "sessions": 6}
KEYS, ROWS_PER_KEY = 64, 50
ROWS_PER_BATCH, LEAST_BATCHES = 2000, 4
"""Each test waits for two batches at its start and two at its end, regardless of their duration."""
LOOP = LoopOptions(interval_s=0.5, cooldown_out_s=0, cooldown_in_s=0, reversal_hold_s=0)
LONG_TRIGGER_MS = 8000
"""Leaves a pause of at least the 3 s that preloading needs, even if a batch takes 5 s on a busy
machine."""
OPTIONS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
    "spark.sql.codegen.wholeStage": "false",
}


def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def spark(cluster: Cluster, driver: dict[str, str]) -> Iterator[SparkSession]:
    options = session_options(Limits(max_executors=4), initial=2)
    session = start_session(cluster.url, {**options, **OPTIONS}, "state placement")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


class Queries:
    """Counts per key into memory, and sessions of ``ROWS_PER_KEY`` rows into files; both count the
    rows 0, 1, 2, ..."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        names: Iterable[str] = PARTITIONS,
        trigger_ms: int = 700,
    ) -> None:
        self.spark, self.folder, self.trigger_ms = spark, folder, trigger_ms
        starts = {"counts": self._counts, "sessions": self._sessions}
        self.running = {name: starts[name]() for name in names}

    def _counts(self) -> Any:
        counted = self._rows().groupBy((sf.col("value") % KEYS).alias("key")).count()
        return self._start("counts", counted, "update", "memory")

    def _sessions(self) -> Any:
        session = sf.session_window("timestamp", "1 second")
        key = sf.expr(f"value div {ROWS_PER_KEY}").alias("key")
        closed = self._rows().withWatermark("timestamp", "1 second").groupBy(key, session).count()
        return self._start("sessions", closed, "append", "json")

    def _rows(self) -> Any:
        rows = (
            self.spark.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", ROWS_PER_BATCH)
            .option("numPartitions", 2)
        )
        return (
            rows.option("advanceMillisPerBatch", 5000)
            .option("startTimestamp", 1_000_000_000_000)
            .load()
        )

    def _start(self, name: str, rows: Any, mode: str, sink: str) -> Any:
        self.spark.conf.set("spark.sql.shuffle.partitions", PARTITIONS[name])
        writer = (
            rows.writeStream.format(sink)
            .queryName(name)
            .outputMode(mode)
            .trigger(processingTime=f"{self.trigger_ms} milliseconds")
        )
        folder = {} if sink == "memory" else {"path": str(self.folder / "sink")}
        return writer.options(checkpointLocation=str(self.folder / name), **folder).start()

    def run_on(self, more: int = 2) -> None:
        """Wait for ``more`` batches of every query."""
        for query in self.running.values():
            wanted = last_batch(query) + more
            until(f"{more} more batches of {query.name}", partial(has_reached, query, wanted))

    def stop(self) -> None:
        for query in self.running.values():
            query.stop()

    def assert_exact(self) -> None:
        """Compare the complete output with that expected for the rows 0, 1, 2, ..."""
        self.run_on()
        self.stop()
        checks = {"counts": self._assert_counts, "sessions": self._assert_sessions}
        for name in self.running:
            checks[name]()

    def _assert_counts(self) -> None:
        counts = {
            row["key"]: row["n"]
            for row in self.spark.sql(
                "SELECT key, max(count) AS n FROM counts GROUP BY key"
            ).collect()
        }
        total = sum(counts.values())
        assert total >= LEAST_BATCHES * ROWS_PER_BATCH
        assert counts == {key: (total - key + KEYS - 1) // KEYS for key in range(KEYS)}

    def _assert_sessions(self) -> None:
        sessions = [
            (row["key"], row["count"])
            for row in (
                self.spark.read.json(str(self.folder / "sink")).select("key", "count").collect()
            )
        ]
        assert sorted(sessions) == [(key, ROWS_PER_KEY) for key in range(len(sessions))]
        assert len(sessions) > 100


class Places:
    """The executors that hold the state, read independently of the autoscaler."""

    def __init__(self, spark: SparkSession) -> None:
        parts = internals_of(spark)
        self._running = RunningQueries(spark, parts.queries, parts.files, Rhythms(parts.queries))
        self._placement = Placement(parts.coordinator, parts.files.size)
        for run_id in self._running.refresh():
            state = self._running.state(run_id)
            assert state is not None
            self._placement.learn(run_id, *state)

    def shares(self) -> list[int]:
        return sorted(Counter(self._read_holders()).values())

    def holders(self) -> set[str | None]:
        return set(self._read_holders())

    def weights(self) -> Mapping[tuple[str, int], float]:
        self._placement.weigh()
        return self._placement.weights or {}

    def _read_holders(self) -> Collection[str | None]:
        self._placement.poll()
        return self._placement.holders.values()


def warm_ups(spark: SparkSession) -> set[int]:
    return set(spark.sparkContext.statusTracker().getJobIdsForGroup(GROUP))


def last_batch(query: Any) -> int:
    return -1 if query.lastProgress is None else int(query.lastProgress["batchId"])


def has_reached(query: Any, batch: int) -> bool:
    return last_batch(query) >= batch


def kept_rows(spark: SparkSession) -> int:
    rows = spark.range(1000).repartition(4).persist()
    try:
        return int(rows.count())
    finally:
        rows.unpersist()


def steady(handle: Handle, executors: int) -> bool:
    last = handle.last
    if last is None or last.observation is None:
        return False
    return (last.rescaling.phase, last.target, last.observation.executors) == (
        "steady",
        executors,
        executors,
    )


def attached(spark: SparkSession, policy: Scripted, folder: Path, standby: int = 0) -> Handle:
    return rheostat.attach(
        spark,
        policy=policy,
        limits=(1, 4),
        journal=folder / "journal",
        loop=LOOP,
        placement="force",
        standby=standby,
    )


def has_one_standby(handle: Handle, executors: int) -> bool:
    return (
        steady(handle, executors)
        and handle.last is not None
        and "stands by" in handle.last.rescaling.detail
    )


def registered(spark: SparkSession) -> set[str]:
    return set(internals_of(spark).executors.hosts())


def differ(places: Places, shares: list[int]) -> bool:
    return places.shares() != shares


def leaving_executors(journal: Path) -> set[str]:
    """Return the executors that were being removed when the memory of the rescaling was last
    written."""
    lives = FolderJournal(journal).restore()["rescaling"]["protocol"]["lives"]
    return {executor for executor, (phase, *_) in lives.items() if phase in GOING | KEEPABLE}


def test_state_follows_the_executors_and_the_output_is_exact(
    spark: SparkSession, cluster: Cluster, failed_tasks: Callable[[], int], tmp_path: Path
) -> None:
    queries = Queries(spark, tmp_path)
    queries.run_on()
    places, policy = Places(spark), Scripted(2)
    handle = attached(spark, policy, tmp_path)
    assert (handle.capabilities.can_scale, handle.capabilities.cannot) == (True, ())

    for executors, shares in ((4, [2, 3, 3, 3]), (2, [5, 6])):
        policy.executors = executors
        until(f"steady with {executors}", lambda: steady(handle, policy.executors))
        assert places.shares() == shares
        assert kept_rows(spark) == 1000  # executors that are hidden from sources still keep blocks
    assert failed_tasks() == 0
    until("those that left have ended", lambda: len(cluster.executors()) == 2)

    oldest = cluster.executors()[0]
    os.kill(oldest.pid, signal.SIGKILL)
    until(
        "its state is elsewhere",
        lambda: handle.last is not None and handle.last.rescaling.phase != "steady",
    )
    until("a new executor has its share", lambda: steady(handle, 2) and places.shares() == [5, 6])
    assert None not in places.holders()
    assert min(places.weights().values()) > 0
    handle.stop()
    queries.assert_exact()
    # The journal contains the places of the state, without lines for unchanged ones.
    recorded = [
        kept.rescaling.places for _, kept in records(tmp_path / "journal") if kept.rescaling.places
    ]
    assert len(holders_of(recorded[-1])) == sum(PARTITIONS.values())
    assert all(before != after for before, after in pairwise(recorded))


@pytest.mark.thorough
def test_a_new_executor_warms_up_before_it_receives_state(
    spark: SparkSession, failed_tasks: Callable[[], int], tmp_path: Path
) -> None:
    warmed, failed = warm_ups(spark), failed_tasks()
    queries = Queries(spark, tmp_path, ("counts",), LONG_TRIGGER_MS)
    queries.run_on()
    policy = Scripted(3)
    handle = attached(spark, policy, tmp_path)
    until("steady with 3", lambda: steady(handle, 3))
    assert Places(spark).shares() == [1, 2, 2]
    assert warm_ups(spark) - warmed, "nothing was rehearsed on the new executor"
    assert failed_tasks() == failed
    handle.stop()
    queries.assert_exact()


def test_sleeping_tasks_hold_an_executor(
    spark: SparkSession, failed_tasks: Callable[[], int]
) -> None:
    parts, failed = internals_of(spark), failed_tasks()
    tasks, hosts = parts.tasks, parts.executors.hosts()
    before = {executor: tasks.tasks_done(executor) for executor in hosts}
    executor, host = min(hosts.items())
    began_s = time.monotonic()
    held = tasks.hold(executor, host, 0.5, GROUP)
    assert held == 1
    assert time.monotonic() - began_s >= 0.5
    until("its end is known", lambda: tasks.tasks_done(executor) > before[executor])
    assert {e: tasks.tasks_done(e) for e in before} == before | {executor: before[executor] + held}
    assert failed_tasks() == failed


def test_new_executors_are_hidden_from_sources_only_while_requested(
    spark: SparkSession, cluster: Cluster
) -> None:
    parts = internals_of(spark)
    managers, executors = parts.block_managers, parts.executors
    assert managers.hide_newcomers(True)
    newcomer = one_after(cluster, executors)
    until("it is hidden", lambda: newcomer not in managers.preferred())
    assert managers.hide_newcomers(False)
    newcomer = one_after(cluster, executors)
    time.sleep(1)  # by now the listener would have hidden it
    assert newcomer in managers.preferred()


def one_after(cluster: Cluster, executors: Executors) -> str:
    """Kill an executor, and return the one that Spark starts in its place."""
    before = set(executors.hosts())
    os.kill(cluster.executors()[0].pid, signal.SIGKILL)
    until("another one has come", lambda: len(set(executors.hosts()) - before) == 1)
    return (set(executors.hosts()) - before).pop()


@pytest.mark.thorough
def test_a_standby_executor_holds_no_state_until_the_target_rises(
    spark: SparkSession, failed_tasks: Callable[[], int], tmp_path: Path
) -> None:
    failed = failed_tasks()
    queries = Queries(spark, tmp_path)
    queries.run_on()
    places, policy = Places(spark), Scripted(2)
    handle = attached(spark, policy, tmp_path, standby=1)
    until("2 work and one stands by", lambda: has_one_standby(handle, 2))
    assert places.shares() == [5, 6]
    (ready,) = registered(spark) - places.holders()

    policy.executors = 3
    until("3 work and another stands by", lambda: has_one_standby(handle, 3))
    assert places.shares() == [3, 4, 4]
    assert ready in places.holders(), "the executor that stood by was not taken"
    (later,) = registered(spark) - places.holders()

    policy.executors = 2
    until(
        "2 work and it still stands by",
        lambda: has_one_standby(handle, 2) and len(registered(spark)) == 3,
    )
    assert places.shares() == [5, 6]
    assert registered(spark) - places.holders() == {later}
    assert failed_tasks() == failed
    handle.stop()
    queries.assert_exact()


@pytest.mark.thorough
def test_a_controller_stopped_during_moves_continues_after_reattaching(
    spark: SparkSession, failed_tasks: Callable[[], int], tmp_path: Path
) -> None:
    failed = failed_tasks()
    queries = Queries(spark, tmp_path)
    queries.run_on()
    places, policy = Places(spark), Scripted(2)
    handle = attached(spark, policy, tmp_path)
    until("steady with 2", lambda: steady(handle, 2) and places.shares() == [5, 6])

    for executors, before, after in ((4, [5, 6], [2, 3, 3, 3]), (2, [2, 3, 3, 3], [5, 6])):
        policy.executors = executors
        until("state moves", partial(differ, places, before))
        handle.stop()
        leaving = leaving_executors(tmp_path / "journal")
        assert len(leaving) == 4 - executors
        handle = attached(spark, policy, tmp_path)
        until(f"steady with {executors}", partial(steady, handle, executors))
        until(f"{executors} are left", lambda: len(registered(spark)) == policy.executors)
        assert places.shares() == after
        assert not leaving & registered(spark), (
            "another one left than the one that was being emptied"
        )
    assert failed_tasks() == failed
    handle.stop()
    queries.assert_exact()
