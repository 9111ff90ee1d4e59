"""The demo: a real Kafka load with a day and a night, a real Spark cluster under it, and the
autoscaler between.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput, RheostatError
from rheostat.guards import guards_of
from rheostat.journal.folder import STOP_FILE, erase
from rheostat.kafka.broker import Broker
from rheostat.kafka.jars import SourceJars, broker_jars, source_jars
from rheostat.lab.demo.finished_run import Overhead, Ramp, Run
from rheostat.lab.demo.live_view import View
from rheostat.lab.demo.pipeline import QUERIES, Pipeline
from rheostat.lab.demo.summary import Latency, Summary, latency, summarize, to_json
from rheostat.lab.demo.verdict import verify
from rheostat.lab.nexmark.bid_topic import open_topic
from rheostat.lab.nexmark.curve import read_curve
from rheostat.local.executor_options import session_options
from rheostat.local.local_files import class_path, local_files
from rheostat.local.standalone import Cluster
from rheostat.local.warm_arrivals import arrivals
from rheostat.machine.free_memory import require_memory
from rheostat.machine.jdk import find_jdk
from rheostat.machine.own_folder import OwnFolder, check_claim, claim
from rheostat.machine.process import Child
from rheostat.machine.whole_file import write_whole
from rheostat.model import Limits, Record, Slo
from rheostat.spark.handle import Handle
from rheostat.spark.session import attach

MEMORY_BYTES = 6 * 1024**3
_DRIVER_MEMORY_MIB = 768
_LINGER_S = {"q1": 1.0, "q11": 5.0}
"""How long a leaving executor stays at least; q1 has no shuffle whose files it would have to
keep."""

_DRIVER_FLAGS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""A driver of four minutes on two shared cores: compiling well costs more than it brings."""

JOURNAL = "journal"
_TOPIC = "bids"
_WARM_UP_TOPIC = "warm-up"
_TICK_S = 0.25
_DRAIN_S = 120.0
_WARM_UP_S = 15.0
_CLOSING_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo does; everything it states, it states from here."""

    query: str = field(
        default="q1", metadata={"help": "Nexmark query: q1 (map) or q11 (session windows)"}
    )
    seconds: float = field(default=240.0, metadata={"help": "length of the day"})
    low: float = field(default=120.0, metadata={"help": "bids per second at night"})
    peak: float = field(default=1500.0, metadata={"help": "bids per second at the peak"})
    service_ms: float = field(
        default=2.0, metadata={"help": "wait per bid, standing for a call to an outside system"}
    )
    partitions: int = field(default=16, metadata={"help": "partitions of the topic"})
    trigger_s: float = field(default=1.0, metadata={"help": "trigger interval"})
    slo_s: float = field(default=10.0, metadata={"help": "latency objective"})
    policy: str = field(default="measured-throughput", metadata={"help": "policy"})
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"lag_share": 0.25, "quiet_s": 10.0, "window_s": 8.0}
    )
    min_executors: int = field(default=1, metadata={"help": "floor of the number of executors"})
    max_executors: int = field(default=8, metadata={"help": "ceiling of the number of executors"})
    interval_s: float = field(default=3.0, metadata={"help": "seconds between two decisions"})
    cooldown_out_s: float = field(
        default=5.0, metadata={"help": "seconds after a rescaling before the next scale-out"}
    )
    cooldown_in_s: float = field(
        default=10.0, metadata={"help": "seconds after a rescaling before the next scale-in"}
    )
    seed: int = field(default=7, metadata={"help": "seed of the bids and of the load's noise"})
    guards: GuardOptions = field(
        default_factory=GuardOptions, metadata={"help": "guards beside those that are always on"}
    )
    out: Path = field(
        default=Path("out/demo"),
        metadata={"help": "folder of the report, the plot and the summary"},
    )

    def __post_init__(self) -> None:
        if self.query not in QUERIES:
            raise BadInput(f"there is no query {self.query!r}; there are {', '.join(QUERIES)}")
        if self.seconds < 30:
            raise BadInput(
                f"a day of {self.seconds:g} seconds is too short to see anything; take 30 or more"
            )
        guards_of(self.limits, self.guards)  # refused before anything starts

    @property
    def limits(self) -> Limits:
        """Floor and ceiling."""
        return Limits(min_executors=self.min_executors, max_executors=self.max_executors)

    @property
    def slo(self) -> Slo:
        """The latency objective."""
        return Slo(latency_s=self.slo_s)

    def in_words(self) -> str:
        """Say what will be shown, and what stands for what."""
        return (
            f"Nexmark {self.query}, a day in {self.seconds / 60:g} minutes: {self.low:g} to"
            f" {self.peak:g} bids/s; each waits {self.service_ms:g} ms, standing for a call to an"
            f" outside system; trigger {self.trigger_s:g} s, objective {self.slo_s:g} s, policy"
            f" {self.policy}, {self.min_executors} to {self.max_executors} executors, a decision"
            f" every {self.interval_s:g} s"
        )


class Lab:
    """The parts that several runs share: a broker that is kept alive, a cluster, the JARs, and how
    executors start.
    """

    def __init__(self, demo: Demo, view: View, stack: ExitStack) -> None:
        self.demo = demo
        self.view = view
        self.folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="rheostat-demo-", ignore_cleanup_errors=True)
            )
        )
        view.step("looking for a Java and for memory")
        find_jdk()
        require_memory(MEMORY_BYTES, "the demo")
        view.step("fetching the JARs of Kafka and of Spark's Kafka source (first time only)")
        broker_jars()
        self.jars: SourceJars = source_jars()
        view.step("starting a Kafka broker")
        self.broker = stack.enter_context(Broker(folder=self.folder / "kafka"))
        self.broker.create_topic(_WARM_UP_TOPIC, demo.partitions)
        view.step("starting Spark Standalone: a master and a worker")
        self.cluster = stack.enter_context(Cluster(cores=demo.max_executors))
        os.environ.update(self.cluster.driver_environment())
        self.warm, cold = arrivals(f"demo {demo.query}", self.cluster.folder, class_path())
        if cold:
            view.note(cold)

    def keep_broker(self) -> None:
        """Start the broker again, on its data, if it has died."""
        if not self.broker.alive:
            self.view.note("the Kafka broker has died; starting it again on the same data")
            self.broker.restart()

    def feed(self, name: str) -> Child:
        """Start a small steady load on the topic for warming up; it ends with the context."""
        command = [
            *_load_command(self.broker.bootstrap, _WARM_UP_TOPIC),
            "--workload",
            "constant",
            "--set",
            "rate=200",
            "--seconds",
            "180",
        ]
        return Child(command, log=self.folder / f"{name}-feed.log")

    def train(self, application: str) -> None:
        """Let an executor of a warmed-up session write the class archive that later ones start from
        (first time only).
        """
        if self.warm and not self.warm.trained:
            self.view.step(
                "training the class archive that makes executors start faster (first time only)"
            )
            if not self.warm.train(application, "0"):
                self.view.note("executors start cold: the class archive could not be trained")


def play(lab: Lab, name: str, size: int | None = None) -> Run:
    """Play the day once and return what happened: autoscaled, or at a fixed size; the load is the
    same each time.
    """
    demo, folder = lab.demo, lab.folder / name
    folder.mkdir()
    topic = f"{_TOPIC}-{name}"
    lab.broker.create_topic(topic, demo.partitions)
    limits = demo.limits if size is None else Limits(min_executors=size, max_executors=size)
    options = session_options(
        limits,
        jars=class_path(),
        archive_flags=lab.warm.flags if lab.warm else (),
        driver_memory_mib=_DRIVER_MEMORY_MIB,
        quiet=True,
        linger_s=_LINGER_S[demo.query],
        user={"spark.driver.extraJavaOptions": _DRIVER_FLAGS},
    )
    options |= {**local_files().settings, **(lab.warm.settings if lab.warm else {})}
    records: list[Record] = []
    with (
        Pipeline(
            demo.query, lab.broker.bootstrap, topic, folder, demo.service_ms, demo.trigger_s
        ) as pipeline,
        ExitStack() as stack,
    ):
        lab.view.step("starting the Spark session and warming it up")
        pipeline.start(lab.cluster.url, options)
        with lab.feed(name):
            pipeline.warm_up(_WARM_UP_TOPIC)
            lab.train(pipeline.spark.sparkContext.applicationId)
        lab.view.step("starting the query and the load")
        pipeline.start_query()
        start_s = time.time() + 3.0
        curve = folder / "curve.jsonl"
        load = [
            *_load_command(lab.broker.bootstrap, topic),
            "--workload",
            "day",
            "--set",
            f"low={demo.low}",
            "--set",
            f"peak={demo.peak}",
            "--set",
            f"day_s={demo.seconds}",
            "--seed",
            str(demo.seed),
            "--start-at",
            str(start_s),
            "--curve",
            str(curve),
        ]
        producer = stack.enter_context(Child(load, log=folder / "load.log"))
        handle = _attach(lab, pipeline, records, start_s) if size is None else None
        _watch(lab, pipeline, producer)
        _close_sessions(lab, pipeline, topic, curve)
        overhead = (
            Overhead(handle.overhead.parts_s(), handle.overhead.elapsed_s) if handle else None
        )
        if handle:
            handle.stop()
        return _run(lab, pipeline, topic, curve, records, overhead, limits)


def _attach(lab: Lab, pipeline: Pipeline, records: list[Record], start_s: float) -> Handle:
    demo = lab.demo
    handle = attach(
        pipeline.spark,
        policy=demo.policy,
        parameters=demo.parameters if demo.policy == "measured-throughput" else {},
        slo=demo.slo,
        limits=demo.limits,
        kafka={"bootstrap.servers": lab.broker.bootstrap},
        journal=demo.out / JOURNAL,
        loop=LoopOptions(
            interval_s=demo.interval_s,
            cooldown_out_s=demo.cooldown_out_s,
            cooldown_in_s=demo.cooldown_in_s,
        ),
        guards=demo.guards,
    )

    def seen(record: Record) -> None:
        records.append(record)

    handle.watch(seen)
    handle.watch(lambda record: lab.view.show(record, record.t_s - start_s, demo.seconds))
    return handle


def _watch(lab: Lab, pipeline: Pipeline, producer: Child) -> None:
    """Keep broker and query alive until all that was produced is committed."""
    _until(lambda: not producer.alive, lab, pipeline, deadline_s=math.inf)
    rows = _rows_produced(producer)
    _until(lambda: pipeline.committed_rows() >= rows, lab, pipeline, deadline_s=_DRAIN_S)


def _until(done: Callable[[], bool], lab: Lab, pipeline: Pipeline, deadline_s: float) -> None:
    deadline = time.monotonic() + deadline_s
    while not done() and time.monotonic() < deadline:
        lab.keep_broker()
        fault = pipeline.keep_running()
        if fault:
            lab.view.note(f"the query failed and was started again from its checkpoint: {fault}")
        time.sleep(_TICK_S)


def _rows_produced(producer: Child) -> int:
    lines = producer.log.read_text(errors="replace").strip().splitlines()
    try:
        return int(json.loads(lines[-1])["rows"])
    except (IndexError, ValueError, KeyError):
        raise RheostatError(
            f"the load producer failed: {lines[-1] if lines else 'it said nothing'}"
        ) from None


def _close_sessions(lab: Lab, pipeline: Pipeline, topic: str, curve: Path) -> None:
    """Append one bid from the future to a query with sessions, which closes all others, and let the
    query come to rest.
    """
    if pipeline.name == "q11":
        sent = open_topic(lab.broker.bootstrap, topic, lab.demo.seed)
        sent.write(read_curve(curve).points[-1].rows, 1, int((time.time() + _CLOSING_S) * 1000))
        sent.flush(_CLOSING_S)
    pipeline.drain()


def _run(
    lab: Lab,
    pipeline: Pipeline,
    topic: str,
    curve_file: Path,
    records: list[Record],
    overhead: Overhead | None,
    limits: Limits,
) -> Run:
    demo, curve, batches = lab.demo, read_curve(curve_file), pipeline.batches()
    executors, failed_tasks = pipeline.executors(records)
    lab.view.step("comparing the sink with a batch computation over the topic")
    verdict = verify(demo.query, lab.broker.bootstrap, topic, pipeline.sink)
    produced = [batch for batch in batches if batch.first_row < curve.points[-1].rows]
    marks = {name: curve.start_s + at_s for name, at_s in curve.marks.items()}
    return Run(
        title=f"Nexmark {demo.query}: a day in {demo.seconds / 60:g} minutes",
        query=demo.query,
        policy=demo.policy,
        slo=demo.slo,
        limits=limits,
        trigger_s=demo.trigger_s,
        interval_s=demo.interval_s,
        service_ms=demo.service_ms,
        start_s=curve.start_s,
        end_s=produced[-1].commit_s,
        warm_up_s=min(_WARM_UP_S, demo.seconds / 8),
        records=[r for r in records if r.t_s <= produced[-1].commit_s],
        curve=[(point.t_s, float(point.acked)) for point in curve.points],
        batches=produced,
        executors=executors,
        ramp=Ramp(marks["ramp_start_s"], marks["ramp_end_s"]),
        failed_tasks=failed_tasks,
        failed_batches=pipeline.failures,
        overhead=overhead,
        verdict=verdict,
        versions=_versions(lab),
    )


def measured_baselines(lab: Lab, run: Run) -> dict[int, Latency]:
    """Play the same day at the fixed maximum and at the fixed mean of a run and return their
    latencies.
    """
    sizes = {baseline.executors for baseline in summarize(run).baselines}
    found = {}
    for size in sorted(sizes):
        lab.view.note(
            f"the same load at a fixed size of {size} executors ({lab.demo.seconds:g} seconds)"
        )
        found[size] = latency(play(lab, f"fixed{size}", size))
    return found


def publish(run: Run, summary: Summary, folder: OwnFolder) -> None:
    """Write report, plot and summary."""
    from rheostat.lab.demo.report import write_report
    from rheostat.lab.demo.run_plot import draw_png

    draw_png(run, summary, folder.ours("plot.png"))
    write_report(run, summary, folder.ours("report.html"))
    text = json.dumps(to_json(summary), indent=2) + "\n"
    write_whole(folder.ours("summary.json"), text)


def perform(demo: Demo, view: View, full: bool = False) -> tuple[Run, Summary]:
    """Do the demo from the set-up to the report; with ``full`` also at fixed sizes."""
    folder = cleared(demo.out)
    view.note(demo.in_words())
    with ExitStack() as stack:
        lab = Lab(demo, view, stack)
        run = play(lab, "autoscaled")
        summary = summarize(run, measured_baselines(lab, run) if full else None)
    publish(run, summary, folder)
    return run, summary


def cleared(out: Path) -> OwnFolder:
    """Return the folder of the results without those of an earlier demo; what we have not written
    stays.

    Raises ``BadInput``, with nothing changed, for a folder that is not ours, and for a kill switch
    in its journal.
    """
    check_claim(out, "--out")
    switch = out / JOURNAL / STOP_FILE
    if switch.exists():
        raise BadInput(f"{switch} would stop the autoscaler at once; remove it first")
    folder = claim(out, "--out")
    erase(folder.ours(JOURNAL))
    folder.remove_files()
    folder.ours(JOURNAL)
    return folder


def _load_command(bootstrap: str, topic: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "rheostat.lab.nexmark.load",
        "--bootstrap",
        bootstrap,
        "--topic",
        topic,
    ]


def _versions(lab: Lab) -> Mapping[str, str]:
    from importlib.metadata import version

    python = ".".join(map(str, sys.version_info[:3]))
    java = subprocess.run(
        [str(find_jdk().java), "-version"], capture_output=True, text=True
    ).stderr.splitlines()
    return {
        "PySpark": version("pyspark"),
        "Kafka source": lab.jars.version,
        "Python": python,
        "Java": java[0] if java else "?",
    }
