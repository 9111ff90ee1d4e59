"""The demo of receivers: senders push records for a few minutes, receivers and executors follow,
and the output is compared with the senders' log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any

from rheostat.api import attach
from rheostat.errors import RheostatError
from rheostat.kafka.jars import source_jars
from rheostat.local.fast_local_files import local_files
from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.jdk import find_jdk
from rheostat.model import Record
from rheostat.spark.fleet.fleet import Fleet, FleetState
from rheostat.spark.fleet.receive_into import read_once, receive
from rheostat.spark.handle import Handle
from rheostat.spark.sensing import progress
from rheostat_lab.clusters.session_options import class_path, session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.demo.free_memory import require_memory
from rheostat_lab.demo.live_view import View
from rheostat_lab.demo.machine_watch import MachineWatch
from rheostat_lab.demo.overhead_meter import OverheadMeter
from rheostat_lab.demo.pipeline import QUERY_OPTIONS, executors_of
from rheostat_lab.demo.results_folder import DRIVER_LOG, JOURNAL, cleared, publish
from rheostat_lab.nexmark.streams import with_service_time
from rheostat_lab.push.push_options import PushDemo
from rheostat_lab.push.push_verdict import PushVerdict, judge
from rheostat_lab.push.sender import Senders
from rheostat_lab.report.finished_run import CommittedBatch, ReceiverCount, Run, Verdict
from rheostat_lab.report.summary import Summary, summarize
from rheostat_lab.services.broker import Broker
from rheostat_lab.services.broker_jars import broker_jars
from rheostat_lab.services.logged_session import start_logged_session

_GIB = 1024**3
_TOPIC = "pushed"
_POLICY = "measured-throughput"
_LEAD_S = 10.0
"""Seconds that the query runs before the load begins, because the first batches of a driver are
slow."""

_COME_S = 120.0
_FLAGS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"


def perform_push(demo: PushDemo, view: View) -> tuple[Run, Summary]:
    """Run the demo of receivers from the set-up to the report."""
    folder = cleared(demo.out)
    view.note(demo.in_words())
    with ExitStack() as stack:
        run = _PushedLoad(demo, view, stack).run()
    summary = summarize(run)
    publish(run, summary, folder)
    return run, summary


class _PushedLoad:
    """One run: the set-up, the load, and the recorded data."""

    def __init__(self, demo: PushDemo, view: View, stack: ExitStack) -> None:
        self._demo, self._view, self._stack = demo, view, stack
        self._records: list[Record] = []
        self._receivers: list[ReceiverCount] = []
        view.step("looking for a Java and for memory")
        find_jdk()
        require_memory(3 * _GIB + demo.limits.max_executors * _GIB // 2, "the demo of receivers")
        view.step("fetching the JARs of Kafka and of Spark's Kafka source (first time only)")
        broker_jars()
        source_jars()
        view.step("starting a Kafka broker and Spark Standalone")
        self._broker = stack.enter_context(Broker())
        self._broker.create_topic(_TOPIC, 8)
        self._cluster = stack.enter_context(Cluster(cores=demo.limits.max_executors * demo.cores))
        stack.callback(end_driver)
        self._sink = self._cluster.folder / "sink"

    def run(self) -> Run:
        """Push the load, wait until all of it is committed, and return the run."""
        demo, view = self._demo, self._view
        view.step("starting the Spark session, the query and the receivers")
        spark = self._session()
        query = self._query(spark)
        fleet = self._fleet(spark)
        # Without a receiver, senders would only count retries.
        _until(lambda: bool(fleet.addresses()), _COME_S, "no receiver has started")
        time.sleep(_LEAD_S)
        meter = OverheadMeter.of_driver(spark)
        handle = self._attach(spark)
        meter.follow(handle)
        machine = self._stack.enter_context(MachineWatch())
        senders = Senders(fleet.address, demo.protocol, demo.senders, demo.rate)
        start_s = time.time()
        view.step("pushing the load")
        handle.watch(lambda record: view.show(record, record.t_s - start_s, demo.seconds))
        with senders:
            time.sleep(demo.seconds)
            if not senders.finish():
                view.note("not every record was acknowledged in two minutes")
        # The receivers first: their records must be in the topic before the query is drained.
        fleet.stop()
        query.processAllAvailable()
        overhead = meter.overhead()
        handle.stop()
        view.step("comparing the output with the senders' log")
        verdict = self._verdict(spark, senders)
        executors, failed = executors_of(spark, self._records)
        batches = _batches(query)
        # The later of both, because senders may receive the last acknowledgement after the last
        # commit.
        end_s = max(batches[-1].commit_s, senders.acknowledged[-1][0])
        return Run(
            title=f"Pushed records: {demo.seconds / 60:g} minutes",
            query=f"each record once, pushed over {demo.protocol}",
            policy=_POLICY,
            slo=demo.slo,
            limits=demo.limits,
            trigger_s=demo.trigger_s,
            interval_s=demo.loop.interval_s,
            service_ms=demo.service_ms,
            start_s=start_s,
            end_s=end_s,
            warm_up_s=15.0,
            slots_per_executor=demo.cores,
            records=[decision for decision in self._records if start_s <= decision.t_s <= end_s],
            curve=[(t_s, float(rows)) for t_s, rows in senders.acknowledged],
            batches=batches,
            executors=executors,
            failed_tasks=failed,
            overhead=overhead,
            verdict=_in_report(verdict, senders),
            versions={"PySpark": version("pyspark")},
            machine=[sample for sample in machine.samples if start_s <= sample.t_s <= end_s],
            receivers=[
                receiver for receiver in self._receivers if start_s <= receiver.t_s <= end_s
            ],
            journal=demo.out / JOURNAL,
            driver_log=demo.out / DRIVER_LOG,
        )

    def _session(self) -> Any:
        demo, cluster = self._demo, self._cluster
        os.environ.update(cluster.driver_environment())
        options = session_options(
            demo.limits,
            jars=class_path(),
            quiet=True,
            driver_memory_mib=768,
            user={
                "spark.executor.cores": str(demo.cores),
                "spark.driver.extraJavaOptions": f'{_FLAGS} "-Djava.io.tmpdir={cluster.folder}"',
            },
        )
        settings = {**QUERY_OPTIONS, **options, **local_files().settings}
        log = demo.out / DRIVER_LOG
        spark = start_logged_session(cluster.url, settings, "rheostat demo receivers", log)
        self._stack.callback(spark.stop)
        return spark

    def _query(self, spark: Any) -> Any:
        demo = self._demo
        rows = read_once(spark, {"bootstrap.servers": self._broker.bootstrap}, _TOPIC)
        return (
            with_service_time(rows, demo.service_ms)
            .writeStream.format("parquet")
            .queryName("pushed")
            .trigger(processingTime=f"{demo.trigger_s:g} seconds")
            .option("path", str(self._sink))
            .option("checkpointLocation", str(self._cluster.folder / "checkpoint"))
            .start()
        )

    def _fleet(self, spark: Any) -> Fleet:
        demo = self._demo
        _until(lambda: _can_receive(spark, demo), _COME_S, "no executor has started")
        fleet = receive(
            spark,
            kafka=self._broker.bootstrap,
            topic=_TOPIC,
            protocol=demo.protocol,
            limits=demo.receivers,
            rows_per_s=demo.receiver_rows_per_s,
        )
        self._stack.callback(fleet.stop)
        fleet.watch(self._note)
        return fleet

    def _note(self, state: FleetState) -> None:
        self._receivers.append(ReceiverCount(state.t_s, state.receivers, state.wanted))

    def _attach(self, spark: Any) -> Handle:
        demo = self._demo
        handle = attach(
            spark,
            policy=_POLICY,
            parameters={"lag_share": 0.25, "quiet_s": 10.0, "window_s": 8.0},
            slo=demo.slo,
            limits=demo.limits,
            kafka=self._broker.bootstrap,
            journal=demo.out / JOURNAL,
            loop=demo.loop,
            guards=demo.guards,
        )
        self._stack.callback(handle.stop)
        handle.watch(self._records.append)
        return handle

    def _verdict(self, spark: Any, senders: Senders) -> PushVerdict:
        rows = spark.read.parquet(str(self._sink)).select("id", "value").collect()
        return judge(senders.ids, senders.tried, ((row.id, row.value) for row in rows))


def _can_receive(spark: Any, demo: PushDemo) -> bool:
    """Return whether there are enough executors for the first receivers."""
    # On a cluster this is the number of registered cores, at least two.
    cores: int = spark.sparkContext.defaultParallelism
    return cores >= demo.limits.min_executors * demo.cores


def _batches(query: Any) -> list[CommittedBatch]:
    batches = []
    for event in query.recentProgress:
        batch = progress.batch_of(event)
        end = sum(batch.committed.values())
        if batch.rows:
            batches.append(
                CommittedBatch(
                    end - batch.rows, end, batch.start_s, batch.commit_s, batch.rows, batch.parts_s
                )
            )
    if not batches:
        raise RheostatError("the query committed no batch with records")
    return batches


def _in_report(verdict: PushVerdict, senders: Senders) -> Verdict:
    """Return the verdict for the report; its rows in are the acknowledged records."""
    detail = (
        f"{verdict.acknowledged:,} records were acknowledged to {len(senders.due)} senders,"
        f" {verdict.came:,} came out: {verdict.missing} missing, {verdict.doubled} doubled,"
        f" {verdict.wrong} wrong; {senders.retries} requests were sent again"
    )
    return Verdict(
        exact=verdict.exact,
        rows_in=verdict.acknowledged,
        rows_out=verdict.came,
        missing=verdict.missing,
        duplicated=verdict.doubled,
        wrong=verdict.wrong,
        detail=detail,
    )


def _until(condition: Callable[[], bool], within_s: float, otherwise: str) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise RheostatError(f"{otherwise} within {within_s:g} s")
        time.sleep(0.2)
