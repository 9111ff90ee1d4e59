"""A day played once: load and query from the start until the last row is committed."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from rheostat.api import attach, shadow
from rheostat.errors import RheostatError
from rheostat.machine.process import Child
from rheostat.model import Limits, Record
from rheostat.spark.handle import Handle
from rheostat_lab.demo.demo_environment import DemoEnvironment, as_words
from rheostat_lab.demo.demo_options import DYNAMIC_ALLOCATION
from rheostat_lab.demo.machine_watch import MachineWatch
from rheostat_lab.demo.overhead_meter import OverheadMeter
from rheostat_lab.demo.pipeline import Pipeline
from rheostat_lab.demo.results_folder import DRIVER_LOG, JOURNAL
from rheostat_lab.demo.verdict import verify
from rheostat_lab.nexmark.curve import Curve, read_curve
from rheostat_lab.nexmark.load import open_topics
from rheostat_lab.nexmark.queries import find_query
from rheostat_lab.report.finished_run import CommittedBatch, MachineSample, Overhead, Ramp, Run

_TICK_S = 0.25
_DRAIN_S = 120.0
_CLOSING_S = 60.0
_LEAD_S = 3.0
"""Seconds from the producer's start to the first row; its imports take about one."""


def play(lab: DemoEnvironment, name: str, size: int | None = None) -> Run:
    """Play the day once, autoscaled or at a fixed size, always with the same load."""
    folder = lab.folder / name
    folder.mkdir()
    return PlayedDay(lab, name, folder, size).play()


class PlayedDay:
    """One run of the day: ``prepare``, then ``run``, within its pipeline's context. ``serve`` is
    the address of its page, as in ``attach``.
    """

    serve = "0"

    def __init__(self, lab: DemoEnvironment, name: str, folder: Path, size: int | None) -> None:
        demo = lab.demo
        self.topics = {kind: f"{kind}-{name}" for kind in find_query(demo.query).sources}
        self.limits = (
            demo.limits if size is None else Limits(min_executors=size, max_executors=size)
        )
        self.pipeline = Pipeline(
            demo.query, lab.address, self.topics, folder, demo.service_ms, demo.trigger_s
        )
        self._lab, self._name, self._scaled = lab, name, size is None
        self._curve_file = folder / "curve.jsonl"
        self._records: list[Record] = []

    def play(self) -> Run:
        """Run everything from the creation of the topics to the last committed row."""
        self._lab.create(self.topics)
        with self.pipeline:
            self.prepare()
            return self.run()

    def prepare(self) -> None:
        """Start the session and warm it up."""
        lab = self._lab
        lab.view.step("starting the Spark session and warming it up")
        log = lab.demo.out / DRIVER_LOG
        self.pipeline.start(lab.cluster.url, lab.session_options(self.limits), log)
        with lab.warm_up_load(self._name):
            self.pipeline.warm_up(lab.warm_up_topics)
            lab.train(self.pipeline.spark.sparkContext.applicationId)

    def run(self) -> Run:
        """Start query, load and autoscaler, and return the run when all rows are committed."""
        self._lab.view.step("starting the query and the load")
        # The query first, so that it starts up in the seconds before the load.
        self.pipeline.start_query()
        start_s = time.time() + _LEAD_S
        with ExitStack() as stack:
            machine = stack.enter_context(MachineWatch())
            producer = stack.enter_context(self._load(start_s))
            meter = OverheadMeter.of_driver(self.pipeline.spark)
            handle = self._attach(start_s) if self._scaled else None
            if handle:
                meter.follow(handle)
            self._watch(producer)
            self._close_windows()
            overhead = meter.overhead() if handle else None
            if handle:
                # After its cost was read, because stopping is not part of the cost of running.
                handle.stop()
            return self._finished_run(overhead, list(machine.samples))

    def _load(self, start_s: float) -> Child:
        demo = self._lab.demo
        words = ["--load", demo.load_text, "--load-seed", str(demo.load_seed)]
        words += ["--seed", str(demo.seed), "--start-at", str(start_s)]
        words += ["--seconds", str(demo.total_s), "--curve", str(self._curve_file)]
        return self._lab.load(self.topics, words, f"{self._name}-load")

    def _attach(self, start_s: float) -> Handle:
        lab, demo = self._lab, self._lab.demo
        own = demo.policy == DYNAMIC_ALLOCATION  # Spark decides and is observed
        handle = (shadow if own else attach)(
            self.pipeline.spark,
            policy="fixed" if own else demo.policy,
            parameters={} if own else demo.policy_parameters,
            slo=demo.slo,
            limits=demo.limits,
            kafka=lab.kafka,
            journal=demo.out / JOURNAL,
            loop=demo.loop,
            guards=demo.guards,
            serve=self.serve,
        )
        if handle.start_event and handle.start_event.serve:
            lab.view.note(f"the page of this run: http://{handle.start_event.serve}/")
        handle.watch(self._records.append)
        handle.watch(lambda record: lab.view.show(record, record.t_s - start_s, demo.total_s))
        return handle

    def _watch(self, producer: Child) -> None:
        """Keep broker and query alive until all produced rows are committed."""
        # Without a deadline, because the producer ends after the length of the load.
        self._until(lambda: not producer.alive, deadline_s=math.inf)
        # The rows that it reports as written, not those requested, because an outage may have cost
        # some.
        rows = rows_produced(producer.log.read_text(errors="replace"))
        self._until(lambda: self.pipeline.has_committed(rows), deadline_s=_DRAIN_S)

    def _until(self, done: Callable[[], bool], deadline_s: float) -> None:
        deadline = time.monotonic() + deadline_s
        while not done() and time.monotonic() < deadline:
            self._lab.keep_broker()
            fault = self.pipeline.keep_running()
            if fault:
                self._lab.view.note(
                    f"the query failed and was started again from its checkpoint: {fault}"
                )
            time.sleep(_TICK_S)

    def _close_windows(self) -> None:
        """Append an event from the future to each source of a query with windows, which closes
        them, and wait until the query is idle.
        """
        query = find_query(self.pipeline.name)
        if query.closes:
            demo, rows = self._lab.demo, read_curve(self._curve_file).points[-1].rows
            sent = open_topics(self._lab.address, as_words(self.topics), demo.seed)
            sent.resume(rows)
            sent.write(rows, len(query.sources), int((time.time() + _CLOSING_S) * 1000))
            sent.flush(_CLOSING_S)
        # Also without windows, because the verdict needs a sink that no longer changes.
        self.pipeline.drain()

    def _finished_run(self, overhead: Overhead | None, machine: Sequence[MachineSample]) -> Run:
        lab, demo, curve = self._lab, self._lab.demo, read_curve(self._curve_file)
        # Before the verdict, while the session still exists.
        executors, failed_tasks = self.pipeline.executors(self._records)
        lab.keep_broker()
        lab.view.step("comparing the sink with a batch computation over its input")
        verdict = verify(demo.query, lab.address, self.topics, self.pipeline.sink)
        batches = within(self.pipeline.batches(), curve)
        end_s = batches[-1].commit_s
        return Run(
            title=f"Nexmark {demo.query}: {demo.span}",
            query=demo.query,
            policy=demo.sized_by,
            slo=demo.slo,
            limits=self.limits,
            slots_per_executor=demo.cores,
            trigger_s=demo.trigger_s,
            interval_s=demo.interval_s,
            service_ms=demo.service_ms,
            start_s=curve.start_s,
            end_s=end_s,
            warm_up_s=demo.warm_up_s,
            records=[record for record in self._records if record.t_s <= end_s],
            curve=[(point.t_s, float(point.acked)) for point in curve.points],
            batches=batches,
            executors=executors,
            ramp=ramp_of(curve),
            failed_tasks=failed_tasks,
            failed_batches=self.pipeline.failures,
            overhead=overhead,
            verdict=verdict,
            versions=lab.versions(),
            machine=[sample for sample in machine if curve.start_s <= sample.t_s <= end_s],
            journal=demo.out / JOURNAL if self._scaled else None,
            driver_log=demo.out / DRIVER_LOG,
            day_s=demo.seconds if demo.days > 1 else None,
            price_per_slot_hour=demo.price_per_slot_hour,
        )


def rows_produced(log: str) -> int:
    """Return the rows that a producer reports as written; raises RheostatError with its last line
    if it failed.
    """
    lines = log.strip().splitlines()
    try:
        return int(json.loads(lines[-1])["rows"])
    except (IndexError, ValueError, KeyError, TypeError):
        raise RheostatError(
            f"the load producer failed: {lines[-1] if lines else 'the log is empty'}"
        ) from None


def within(batches: Sequence[CommittedBatch], curve: Curve) -> list[CommittedBatch]:
    """Return the batches with rows of the load; raises RheostatError if there are none."""
    # The event that closes the windows follows the load and is not part of it.
    inside = [batch for batch in batches if batch.first_row < curve.points[-1].rows]
    if not inside:
        raise RheostatError("the query committed no batch with rows of the load")
    return inside


def ramp_of(curve: Curve) -> Ramp | None:
    """Return the load's marked ramp in Unix seconds; None if it has none."""
    if "ramp_start_s" not in curve.marks:
        return None
    at_s = {name: curve.start_s + at_s for name, at_s in curve.marks.items()}
    return Ramp(at_s["ramp_start_s"], at_s["ramp_end_s"])
