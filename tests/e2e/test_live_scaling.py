"""A real application under a real load, sized live: one session, a stateless and a stateful query,
real executors."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import rheostat
from rheostat.cli.app import run
from rheostat.config import LoopOptions
from rheostat.control.driver_report import TOKEN_VARIABLE
from rheostat.journal.explanation import changes, explain
from rheostat.journal.folder import STOP_FILE, read
from rheostat.kafka.jars import source_jars
from rheostat.local.local_session import start_session
from rheostat.machine.free_ports import free_port
from rheostat.machine.process import Child
from rheostat.model import Limits
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.demo.pipeline import start_query
from rheostat_lab.demo.verdict import verify
from rheostat_lab.nexmark.event_topic import open_topic
from rheostat_lab.rescale.rescale_ways import Scripted
from rheostat_lab.services.broker import Broker

pytestmark = pytest.mark.e2e
PARTITIONS, RATE = 6, 100
DEADLINE_S = 300.0
TOPIC = "live-bids"
LOOP = LoopOptions(interval_s=0.5, cooldown_out_s=0, cooldown_in_s=0, reversal_hold_s=0)


def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def spark(cluster: Cluster, driver: dict[str, str]) -> Iterator[SparkSession]:
    options = session_options(Limits(max_executors=3), jars=source_jars().paths)
    session = start_session(
        cluster.url, {**options, "spark.sql.shuffle.partitions": "3"}, "live scaling"
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def load(broker: Broker, tmp_path: Path) -> Iterator[Child]:
    broker.create_topic(TOPIC, PARTITIONS)
    command = [
        sys.executable,
        "-m",
        "rheostat_lab.nexmark.load",
        "--bootstrap",
        broker.bootstrap,
        "--topic",
        TOPIC,
    ]
    with Child(
        [*command, "--workload", "constant", "--set", f"rate={RATE}", "--seconds", "600"],
        log=tmp_path / "load.log",
    ) as load:
        yield load


class Queries:
    """The running queries, each with a sink in its own folder."""

    def __init__(self, spark: SparkSession, bootstrap: str, folder: Path) -> None:
        self._spark, self._bootstrap, self._folder = spark, bootstrap, folder
        self.running: dict[str, Any] = {}

    def start(self, name: str, service_ms: float) -> None:
        self.running[name] = start_query(
            self._spark,
            name,
            self._bootstrap,
            {"bids": TOPIC},
            str(self._folder / name),
            service_ms,
            1.0,
        )

    def run_on(self, more: int = 2) -> None:
        """Wait for ``more`` batches of every query."""
        reached = self._batches() + more
        until(f"{more} more batches", lambda: self._batches() >= reached)

    def _batches(self) -> int:
        return min(
            -1 if query.lastProgress is None else int(query.lastProgress["batchId"])
            for query in self.running.values()
        )

    def assert_exact(self) -> None:
        for name, query in self.running.items():
            query.processAllAvailable()
            assert query.isActive
            verdict = verify(name, self._bootstrap, {"bids": TOPIC}, self._folder / name / "sink")
            assert verdict.exact, verdict.detail
            assert verdict.rows_in > 1000


@pytest.fixture
def queries(spark: SparkSession, broker: Broker, tmp_path: Path) -> Iterator[Queries]:
    queries = Queries(spark, broker.bootstrap, tmp_path)
    yield queries
    for query in queries.running.values():
        query.stop()


def is_halted(handle: Any) -> bool:
    return handle.last is not None and handle.last.rescaling.phase == "halted"


def assert_explained(journal: Path) -> None:
    lines = [line for record in changes(read(journal)) for line in explain(record)]
    assert sum("the query keeps running" in line for line in lines) >= 2
    assert any("resumed, halted since" in line for line in lines)


def test_a_running_query_is_rescaled_with_exact_output(
    spark: SparkSession,
    cluster: Cluster,
    broker: Broker,
    load: Child,
    queries: Queries,
    failed_tasks: Callable[[], int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, journal = Scripted(1), tmp_path / "journal"
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    queries.start("q1", service_ms=2.0)
    kafka = {"bootstrap.servers": broker.bootstrap}
    handle = rheostat.attach(
        spark,
        policy=policy,
        limits=(1, 3),
        kafka=kafka,
        journal=journal,
        loop=LOOP,
        placement="off",
        serve=address,
    )
    assert (handle.capabilities.can_scale, handle.capabilities.cannot) == (True, ())

    def sized(executors: int) -> None:
        policy.executors = executors
        until(f"{executors} executors", lambda: len(cluster.executors()) == executors)
        until(
            "steady",
            lambda: (
                handle.last is not None
                and (handle.last.rescaling.phase, handle.last.target) == ("steady", executors)
            ),
        )
        queries.run_on()

    for executors in (1, 3, 2):
        sized(executors)
    assert failed_tasks() == 0

    queries.start("q11", service_ms=0.0)
    queries.run_on()
    oldest = cluster.executors()[0]
    os.kill(oldest.pid, signal.SIGKILL)
    until(
        "a new executor",
        lambda: oldest not in cluster.executors() and len(cluster.executors()) == 2,
    )
    queries.run_on()

    (journal / STOP_FILE).touch()
    decided = sum(1 for record in read(journal) if record.target is not None)
    until("halted", lambda: is_halted(handle))
    policy.executors = 3
    ticks = [record for record in read(journal) if record.target is not None]
    assert len(ticks) <= decided + 1
    queries.run_on()
    assert len(cluster.executors()) == 2

    # Resume and halt again over HTTP with the commands, in the same process.
    assert run(["resume", address]) == 0
    sized(3)
    assert run(["halt", address]) == 0
    until("halted", lambda: is_halted(handle))
    policy.executors = 1
    queries.run_on()
    assert len(cluster.executors()) == 3
    assert_explained(journal)
    handle.stop()  # a halted loop keeps running, and only one may size an application

    load.stop()
    topic = open_topic(broker.bootstrap, TOPIC, seed=7)
    topic.write(
        10_000_000, 1, int((time.time() + 60) * 1000)
    )  # its future timestamp closes all other sessions
    assert topic.flush(30) == 0
    queries.assert_exact()

    # A first batch that exceeds the objective makes the start hold a larger size.
    assert [
        target
        for target, _ in groupby(
            tick.target
            for tick in ticks
            if all(change.guard != "starting" for change in tick.guards)
        )
    ] == [1, 3, 2]
    observations = [tick.observation for tick in ticks if tick.observation]
    assert {observation.executors for observation in observations} >= {1, 2, 3}
    assert {tick.rescaling.phase for tick in ticks} == {"steady", "growing", "shrinking"}
    assert {tick.raw.reason for tick in ticks if tick.raw} == {"set by the script"}
    assert max(observation.input_rows_per_s or 0.0 for observation in observations) > RATE
    assert any(len(tick.queries) == 2 for tick in ticks)
    assert all(observation.lag_rows is not None for observation in observations[-5:])


def test_a_broker_outage_is_recorded_and_foreach_batch_output_has_no_count(
    spark: SparkSession, broker: Broker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    topic = f"outage-{tmp_path.name}"
    broker.create_topic(topic, 2)
    producer = Producer({"bootstrap.servers": broker.bootstrap})

    def append(rows: int = 200) -> None:
        for row in range(rows):
            producer.produce(topic, b"row", partition=row % 2)
        assert producer.flush(60) == 0

    append()
    source = spark.readStream.format("kafka").option("subscribe", topic)
    source = source.option("kafka.bootstrap.servers", broker.bootstrap)
    source = source.option("startingOffsets", "earliest")
    stored: list[int] = []

    def store(batch: Any, _: int) -> None:
        batch.foreachPartition(lambda rows: sum(1 for _ in rows))
        stored.append(batch.count())

    query = source.load().writeStream.trigger(processingTime="1 second").foreachBatch(store).start()
    handle = rheostat.shadow(
        spark,
        policy="dhalion-adapted",
        kafka=broker.bootstrap,
        journal=tmp_path / "journal",
        loop=LOOP,
    )

    def observed(what: str, holds: Callable[[Any], bool]) -> None:
        until(what, lambda: handle.last is not None and holds(handle.last.observation))

    try:
        with caplog.at_level(logging.INFO, logger="rheostat"):
            observed("a batch", lambda o: o is not None and (o.batch_rows or 0) > 0)
            append()
            until("all rows", lambda: sum(stored) == 400)
            assert broker.pid
            os.kill(broker.pid, signal.SIGKILL)
            observed("the outage", lambda o: o is not None and o.broker_up is False)
            broker.restart()
            observed("the end of it", lambda o: o is not None and o.broker_up is True)
            append()
            until("the rows after it", lambda: sum(stored) == 600)
    finally:
        handle.stop()
        query.stop()
    observations = [tick.observation for tick in read(tmp_path / "journal") if tick.observation]
    assert [up for up, _ in groupby(o.broker_up for o in observations)] == [True, False, True]
    away = [o for o in observations if o.broker_up is False]
    absent = {(o.input_rows_per_s, o.lag_rows, o.lag_s, o.processed_rows_per_s) for o in away}
    assert absent == {(None, None, None, None)}
    assert {o.output_rows_per_s for o in observations} == {None}
    assert max(o.processed_rows_per_s or 0.0 for o in observations) > 0
    logged = [r.getMessage() for r in caplog.records if broker.bootstrap in r.getMessage()]
    assert ["does not answer" in line for line in logged] == [True, False]


def test_the_autoscaler_ends_with_stop_or_with_its_application(
    spark: SparkSession, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    stopped, left = (rheostat.shadow(spark, journal=journal, loop=LOOP) for _ in range(2))
    assert (stopped.journal, left.journal) == (journal, journal / "writer-2")
    until("a tick of both", lambda: stopped.last is not None and left.last is not None)
    stopped.stop()
    assert not stopped.running
    assert left.running
    spark.conf.set("spark.rheostat.journal", str(tmp_path / "attached"))
    attached = rheostat.attach(spark, loop=LOOP)
    assert attached.journal == tmp_path / "attached"
    until("a tick", lambda: attached.last is not None)
    spark.stop()
    until("both ended with the application", lambda: not left.running and not attached.running)
    for folder in (journal, left.journal, attached.journal):
        times = [record.t_s for record in read(folder)]
        assert times == sorted(times)
        assert not (folder / "lease.json").exists()
