"""The job's side of the restart protocol: requests a restart, reports that the job works, drains
its queries on order, and runs one batch of each query to commit a planned one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

from rheostat.actions import RepartitionState
from rheostat.journal.control_channel import LOOP, ControlChannel, Order, Report, RestartRequest
from rheostat.model import Capabilities, Decision, Memory, Rescaling
from rheostat.ports import Actuator
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.internals.stream_executions import Queries
from rheostat.spark.resizing.poll_thread import PollThread
from rheostat.spark.sensing.progress import runs_batch
from rheostat.storage.lease import this_process

DRAIN_LIMIT_S = 120.0
_POLL_S = 0.05

IDLE_S = 0.2

DRAINING_S = 0.02
"""Seconds between polls: a query without an interval plans its next batch within about 50 ms."""

_WAYS = ("start", "toTable")


class Drain:
    """Stops each query once it has completed a batch since the first step, or runs none."""

    def __init__(self, queries: SessionQueries) -> None:
        self._queries = queries
        self._batches: dict[str, int] = {}

    def step(self) -> bool:
        """Stop the queries that can be stopped now; return whether none runs any more."""
        for run_id in self._queries.active():
            last = self._queries.last_batch(run_id)
            if last != self._batches.setdefault(run_id, last) or self._queries.rests(run_id):
                self._queries.stop(run_id)
        return not self._queries.active()


def drain(spark: Any, limit_s: float = DRAIN_LIMIT_S) -> None:
    """Drain a session, or stop its queries after ``limit_s`` seconds: committed batches stay, the
    others run again at the next start. A StreamingContext stops gracefully, with its application.
    """
    if not hasattr(spark, "streams"):
        spark.stop(stopSparkContext=True, stopGraceFully=True)
        return
    queries, until_s = SessionQueries(spark), time.monotonic() + limit_s
    draining = Drain(queries)
    while not draining.step():
        if time.monotonic() > until_s:
            for run_id in list(queries.active()):
                queries.stop(run_id)
        time.sleep(_POLL_S)


class SessionQueries:
    """The active queries of ``spark``, by their run ids; without ``streams``, only public calls are
    made, and checkpoints and sinks are unknown.
    """

    def __init__(self, spark: Any, streams: Queries | None = None) -> None:
        self._spark = spark
        self._streams = streams
        self._queries: dict[str, Any] = {}

    def active(self) -> Collection[str]:
        """Return the run ids of the running queries."""
        self._queries = {str(query.runId): query for query in self._spark.streams.active}
        return self._queries.keys()

    def last_batch(self, run_id: str) -> int:
        """Return the number of a query's last completed batch, -1 for none."""
        query = self._queries[run_id]
        if self._streams:
            return self._streams.last_batch(query)
        progress = query.lastProgress
        return -1 if progress is None else int(progress["batchId"])

    def rests(self, run_id: str) -> bool:
        """Return whether a query runs no batch now."""
        return not runs_batch(self._queries[run_id].status)

    def checkpoint(self, run_id: str) -> str | None:
        """Return a query's checkpoint; None if it is unknown."""
        return self._streams.checkpoint(self._queries[run_id]) if self._streams else None

    def sink(self, run_id: str) -> str | None:
        """Return the folder that a query writes files to; None for another sink."""
        return self._streams.sink_folder(self._queries[run_id]) if self._streams else None

    def stop(self, run_id: str) -> None:
        """Stop a query, and wait for its end."""
        self._queries[run_id].stop()


@dataclass(eq=False)
class JobWatch:
    """Observes the queries of a job and follows the orders of its supervisor; ``started`` returns
    the number of queries that the script has started, if known.
    """

    queries: SessionQueries
    channel: ControlChannel
    run: int
    started: Callable[[], int] = lambda: 0

    def __post_init__(self) -> None:
        self._report = own_report(self.run)
        self._known: set[str] = set()
        self._drain: Drain | None = None

    def pause_s(self, now: float) -> float:
        """Return the seconds until the next poll."""
        return DRAINING_S if self._drain else IDLE_S

    def poll(self, now: float) -> None:
        """Report changes, and continue a drain that was ordered."""
        active = self.queries.active()
        self._report_queries(active, now)
        order = self.channel.order()
        if order is None or order.run != self._report.run:
            return
        if order.drain:
            self._drain = self._drain or Drain(self.queries)
            if self._drain.step():
                self._update_report(drained_s=now)
        elif order.once and self.started() and not active:
            self._update_report(drained_s=now)

    def _report_queries(self, active: Collection[str], now: float) -> None:
        """Report that the job works, and the state and sink of each query, also of later ones."""
        works_s = self._report.works_s
        fresh = [run_id for run_id in active if run_id not in self._known]
        if not fresh:
            return
        if works_s is None and not any(self.queries.last_batch(query) >= 0 for query in active):
            return
        self._known.update(fresh)
        checkpoints, sinks = set(self._report.checkpoints), dict(self._report.sinks)
        for run_id in fresh:
            checkpoint = self.queries.checkpoint(run_id)
            sink = self.queries.sink(run_id) if checkpoint else None
            if checkpoint:
                checkpoints.add(checkpoint)
            if checkpoint and sink:
                sinks[checkpoint] = sink
        self._update_report(
            works_s=now if works_s is None else works_s,
            checkpoints=tuple(sorted(checkpoints)),
            sinks=sinks,
        )

    def _update_report(self, **news: Any) -> None:
        report = replace(self._report, **news)
        if news.get("drained_s") is None or self._report.drained_s is None:
            self._report = report
            self.channel.write_report(report)


def own_report(run: int) -> Report:
    """Return the first report of this process, which states that it runs."""
    own = this_process()
    return Report(run=run, pid=own.pid, began=own.started)


class OneBatch:
    """Starts every query of the script with the trigger ``once``, and counts the queries."""

    def __init__(self) -> None:
        self.started = 0

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Apply the trigger while the context lasts."""
        from pyspark.sql.streaming import DataStreamWriter

        before = {name: getattr(DataStreamWriter, name) for name in _WAYS}
        for name, original in before.items():
            setattr(DataStreamWriter, name, self._counted(original))
        try:
            yield
        finally:
            for name, original in before.items():
                setattr(DataStreamWriter, name, original)

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def begin(writer: Any, *positional: Any, **named: Any) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # Spark recommends availableNow, which runs several batches
                writer.trigger(once=True)
            query = original(writer, *positional, **named)
            self.started += 1
            return query

        return begin


def finishing(spark: Any, folder: Path, order: Order, batches: OneBatch) -> PollThread:
    """Return the running thread that reports when every started query has ended."""
    internals = internals_of(spark)
    watch = JobWatch(
        SessionQueries(spark, internals.queries),
        ControlChannel(folder),
        order.run,
        lambda: batches.started,
    )
    thread = PollThread(watch.poll, watch.pause_s, internals.gateway.stopped)
    thread.start()
    return thread


@dataclass(eq=False)
class RestartActuator(Actuator):
    """Requests restarts by ``channel`` from the start ``order``; ``notes`` are for the next."""

    channel: ControlChannel
    order: Order
    watch: JobWatch
    ended: Callable[[], bool]
    notes: Callable[[], Memory] = dict
    registered: Callable[[], int] | None = None

    def __post_init__(self) -> None:
        self._thread = PollThread(self.watch.poll, self.watch.pause_s, self.ended)

    def capabilities(self) -> Capabilities:
        """Return that every change of size is a restart."""
        return Capabilities(can_scale=True, cannot=("the size is changed by restarts of the job",))

    def sizes(self, now: float) -> tuple[int | None, int | None] | None:
        """Return the number of working executors and the size of the last start."""
        return (self.registered(), self.order.executors) if self.registered else None

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Request a restart at the target, or withdraw the request if the target is in force."""
        return replace(self._request(decision, now), memory=self.notes())

    def _request(self, decision: Decision, now: float) -> Rescaling:
        target, actions = decision.target, decision.actions
        repartition = next((act for act in actions if isinstance(act, RepartitionState)), None)
        partitions = repartition.partitions if repartition else None
        if target == self.order.executors and partitions is None:
            self.channel.remove_request(LOOP)
            return Rescaling(phase="steady", detail=f"{target} executors since the last start")
        reason = "; ".join((decision.reason, *map(str, actions)))
        request = RestartRequest(
            t_s=now, reason=reason, executors=target, partitions=partitions, run=self.order.run
        )
        self.channel.write_request(LOOP, request)
        if target == self.order.executors:
            return Rescaling(phase="steady", detail=f"{partitions} state partitions are requested")
        phase = "growing" if target > self.order.executors else "shrinking"
        return Rescaling(phase=phase, detail=f"a restart with {target} executors is requested")

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Observe the job between the decisions, in a thread."""
        self._thread.start(tick)

    def hold(self) -> None:
        """Withdraw the requested restart; one that a person requested remains."""
        self.channel.remove_request(LOOP)

    def close(self) -> None:
        """Stop observing the job."""
        self._thread.stop()
