"""Measures the cost of a new executor's first tasks by kind of start: cold, with a class archive,
and with the work of the agent before registration.

Run: python benchmarks/warm_start.py [--query count|session|join] [--repeats N] [--out FILE]. A
stateful query from Kafka runs on two executors; for each variant a third one is started, receives
its share of the state partitions, and is removed. The result is the CPU-seconds of its JVM until
registration and of its first tasks, source and state (Spark's own task metrics), which hardly
depend on the load of the computer. Variants are interleaved, so that a slow minute affects all of
them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from rheostat.local.executor_options import arrivals
from rheostat.machine.orderly_end import orderly_end
from rheostat.model import Limits
from rheostat.spark.internals.placed_tasks import COMPUTES, HOLDS, READS, STARTS_PYTHON
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.running_queries import Rhythms, RunningQueries
from rheostat.spark.sensing.rest import Rest
from rheostat.spark.warming.warm_start import LIBRARIES, RECORD, WarmStart, use
from rheostat.spark.warming.warmup import Warmup
from rheostat_lab.clusters.session_options import class_path
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.rescale.job_setting import PARTITIONS, Setting
from rheostat_lab.rescale.stateful_job import StatefulJob
from rheostat_lab.rescale.stateful_rows import KEEPING, Shape
from rheostat_lab.services.broker import Broker

VARIANTS = {
    "cold": (),
    "archive": ("archive",),
    "archive, classes": ("archive", "classes"),
    "archive, classes, libraries": ("archive", "classes", "libraries"),
    "archive, classes, libraries, Catalyst": ("archive", "classes", "libraries", "catalyst"),
    "the same, warmed up": ("archive", "classes", "libraries", "catalyst", "rehearsal"),
}
CATALYST = frozenset({"codegen", "json"})
OLD = 2
OURS = frozenset({HOLDS, STARTS_PYTHON, READS, COMPUTES})
"""Rheostat's Spark jobs."""


class Bench:
    """A running query whose third executor is started in one of several ways."""

    def __init__(self, job: StatefulJob, cluster: Cluster, warm: WarmStart) -> None:
        self._job, self._cluster, self._warm = job, cluster, warm
        context = job.spark.sparkContext
        self._rest = Rest(context.uiWebUrl, context.applicationId)
        self._executors = job.internals.executors
        self._placement = Placement(job.internals.coordinator)
        internals = job.internals
        rhythms = Rhythms(internals.queries)
        queries = RunningQueries(job.spark, internals.queries, internals.files, rhythms)
        (self._run_id,) = queries.refresh()
        self._placement.learn(self._run_id, *(queries.state(self._run_id) or ("", ())))

    def train(self) -> None:
        """Train the archive on an executor that records and has run everything once."""
        self._write(RECORD)
        executor = self._come()
        self._share(executor)
        self._job.run_on(6)
        began_s = time.time()
        if not self._warm.train(self._job.spark.sparkContext.applicationId, executor):
            raise SystemExit("the class archive could not be trained")
        say(
            f"trained in {time.time() - began_s:.1f} s:"
            f" {self._warm.archive.stat().st_size >> 20} MiB"
        )
        self._leave(executor)

    def measure(self, steps: Sequence[str]) -> dict[str, Any]:
        """Start an executor in one way, let it work, remove it; return its cost."""
        with tempfile.TemporaryDirectory() as folder:
            self._write(self._flags(steps, Path(folder)))
            requested_s, known = time.time(), {entry.pid for entry in self._cluster.executors()}
            executor = self._come()
            registered_s = time.time()
            process = [entry for entry in self._cluster.executors() if entry.pid not in known][-1]
            start_cpu_s = cpu_s(process)
            before = self._job.last_batch
            if "rehearsal" in steps:
                self._rerun_tasks(executor)
            warm_cpu_s = cpu_s(process) - start_cpu_s
            self._job.run_on(3)
            shared = self._job.last_batch
            self._share(executor)
            self._job.run_on(4)
            memory_mib = getattr(process.memory_full_info(), "pss", 0) >> 20
            tasks = self._tasks(executor)
            note = Path(folder) / "warm-start.log"
            agent_note = note.read_text().strip() if note.exists() else ""
            durations = {n: b.duration_s for n, b in self._job.batches.items()}
            self._leave(executor)
        return {
            "start_s": registered_s - requested_s,
            "start_cpu_s": start_cpu_s,
            "warm_cpu_s": warm_cpu_s,
            "memory_mib": memory_mib,
            **tasks,
            "agent": agent_note,
            "usual_s": statistics.median(
                durations[n] for n in range(before - 3, before + 1) if n in durations
            ),
            "registered_s": [durations.get(n) for n in range(before + 1, shared + 1)],
            "shared_s": [durations.get(n) for n in range(shared + 1, shared + 4)],
        }

    def _flags(self, steps: Sequence[str], folder: Path) -> list[str]:
        flags = list(use(self._warm.archive)) if "archive" in steps else []
        if "classes" in steps:
            (folder / "classes.txt").write_text(self._warm.classes.read_text())
            flags.append(f"-javaagent:{self._warm.agent}={folder}")
        if "libraries" in steps:
            used = [name for name in LIBRARIES if "catalyst" in steps or name not in CATALYST]
            (folder / "libraries.txt").write_text("".join(f"{name}\n" for name in used))
        return flags

    def _write(self, flags: Iterable[str]) -> None:
        partial = self._warm.options.with_suffix(".partial")
        partial.write_text("".join(f"{flag}\n" for flag in flags))
        partial.replace(self._warm.options)

    def _come(self) -> str:
        known = set(self._job.executors())
        self._executors.request_total(len(known) + 1)
        while not set(self._job.executors()) - known:
            time.sleep(0.02)
        return str((set(self._job.executors()) - known).pop())

    def _rerun_tasks(self, executor: str) -> None:
        """Warm it as the rescale controller does, and wait until that has ended."""
        parts = self._job.internals
        rhythms = Rhythms(parts.queries)
        warmup = Warmup(parts.tasks, parts.warmup_runner, rhythms, lambda: [self._job.query])
        host = self._executors.hosts().get(executor)
        while host is None:
            time.sleep(0.02)
            host = self._executors.hosts().get(executor)
        warmup.begin(executor, host)
        while executor not in warmup.ready():
            time.sleep(0.02)

    def _share(self, executor: str) -> None:
        """Assign its share of the state right after a batch has ended."""
        self._job.run_on(1)
        units = sorted(self._placement.units)[: PARTITIONS // (OLD + 1)]
        self._placement.assign(dict.fromkeys(units, executor), self._executors.hosts())

    def _leave(self, executor: str) -> None:
        old = [entry for entry in self._job.executors() if entry != executor]
        self._job.run_on(1)
        units = sorted(self._placement.units)[: PARTITIONS // (OLD + 1)]
        self._placement.assign(
            {unit: old[i % len(old)] for i, unit in enumerate(units)}, self._executors.hosts()
        )
        self._job.run_on(2)
        self._executors.request_total(len(old))
        self._executors.decommission([executor])
        self._job.until("an executor left", lambda: executor not in self._job.executors())
        self._job.run_on(2)

    def _tasks(self, executor: str) -> dict[str, Any]:
        """Return CPU-seconds and seconds of an executor's first and last tasks, of stages that read
        and of stages with state.
        """
        tasks_by_kind: dict[str, list[tuple[str, float, float]]] = {"source": [], "state": []}
        faults: list[str] = []
        for stage in (self._rest.get("stages") or [])[:60]:
            if stage.get("description") in OURS:
                continue
            kind = "state" if stage["numTasks"] == PARTITIONS else "source"
            for task in (
                self._rest.get(
                    f"stages/{stage['stageId']}/{stage['attemptId']}/taskList?length=100"
                )
                or []
            ):
                if task["executorId"] == executor and task["status"] == "FAILED":
                    faults.append(str(task.get("errorMessage", ""))[:1500])
                elif task["executorId"] == executor and "taskMetrics" in task:
                    metrics = task["taskMetrics"]
                    cpu = (metrics["executorCpuTime"] + metrics["executorDeserializeCpuTime"]) / 1e9
                    tasks_by_kind[kind].append(
                        (task["launchTime"], cpu, task.get("duration", 0) / 1000)
                    )
        costs = {
            f"{kind}_{name}": value
            for kind, tasks in tasks_by_kind.items()
            for name, value in (
                ("first_cpu_s", sum(task[1] for task in sorted(tasks)[:1])),
                ("first_s", sum(task[2] for task in sorted(tasks)[:1])),
                ("five_cpu_s", sum(task[1] for task in sorted(tasks)[:5])),
                ("n", len(tasks)),
                (
                    "usual_cpu_s",
                    statistics.median(task[1] for task in sorted(tasks)[-5:]) if tasks else 0.0,
                ),
            )
        }
        return {**costs, "faults": faults[:1]}


def cpu_s(process: psutil.Process) -> float:
    """Return the CPU-seconds of a process."""
    times = process.cpu_times()
    return float(times.user + times.system)


def say(line: str) -> None:
    """Print progress."""
    Console(stderr=True).print(line, highlight=False, markup=False)


def run(given: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    """Run all variants in turn, as often as requested."""
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in given.variants}
    with ExitStack() as stack:
        stack.enter_context(orderly_end())
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="warm-start-", ignore_cleanup_errors=True)
            )
        )
        broker = stack.enter_context(Broker(folder=folder / "kafka"))
        cluster = stack.enter_context(Cluster(cores=OLD + 2))
        warm, cold = arrivals(f"benchmark {given.query}", cluster.folder, class_path())
        if warm is None:
            raise SystemExit(cold)
        shape = Shape(query=given.query, state_mb=given.state_mb, rate_per_s=given.rate)
        setting = Setting(
            trigger_s=given.trigger_s, archive_flags=warm.flags, options=warm.settings
        )
        limits = Limits(min_executors=1, max_executors=OLD + 2)
        job = stack.enter_context(
            StatefulJob(shape, setting, broker, cluster, folder / "job", limits, OLD)
        )
        job.start()
        job.run_on(5)
        bench = Bench(job, cluster, warm)
        if not warm.trained:
            bench.train()
        for number in range(given.repeats):
            for name in given.variants:
                results[name].append(bench.measure(VARIANTS[name]))
                say(f"{number + 1} {name}: {json.dumps(results[name][-1])}")
                if given.out:
                    given.out.write_text(json.dumps(results, indent=1) + "\n")
    return results


def table(results: dict[str, list[dict[str, Any]]]) -> Table:
    """Print the medians."""
    columns = {
        "start CPU s": "start_cpu_s",
        "MiB": "memory_mib",
        "first source task CPU s": "source_first_cpu_s",
        "first five": "source_five_cpu_s",
        "first state task CPU s": "state_first_cpu_s",
        "first five ": "state_five_cpu_s",
    }
    shown = Table("", "n", *columns, title="new executor, by kind of start (medians)")
    for name, samples in results.items():
        values = (
            [statistics.median(sample[key] for sample in samples) for key in columns.values()]
            if samples
            else []
        )
        shown.add_row(name, str(len(samples)), *(f"{value:.2f}" for value in values))
    return shown


def main() -> None:
    """Measure, print a table, write the samples as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--query", choices=KEEPING, default="session")
    parser.add_argument("--repeats", type=int, default=3, help="executors of each kind (default 3)")
    parser.add_argument(
        "--state-mb",
        type=float,
        default=48.0,
        help="MB of state (default 48: 16 for the new executor)",
    )
    parser.add_argument("--rate", type=int, default=400, help="rows per second (default 400)")
    parser.add_argument("--trigger-s", type=float, default=1.0, help="trigger interval (default 1)")
    parser.add_argument(
        "--variants",
        nargs="+",
        choices=VARIANTS,
        default=list(VARIANTS),
        help="variants (default: all)",
    )
    parser.add_argument("--out", type=Path, help="write the samples to this file as JSON")
    Console().print(table(run(parser.parse_args())))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
