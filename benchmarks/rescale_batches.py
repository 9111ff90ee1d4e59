"""Shows the contents of the batches of a rescale: stages, executors and Rheostat's jobs, from a
run of live_rescale.py with --events.

Run: python benchmarks/rescale_batches.py FILE FOLDER/WAY.events --way WAY --above 0.25. For every
scored rescale it prints the seconds of its batches (* state moved in it, + an executor registered
in it or in the pause before it). Of rescales with a disturbance above the limit it also prints the
long batches: each stage with its tasks by executor (their number, their total seconds, the longest
one, CPU seconds), and what Rheostat ran in the pause before the batch and during it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rheostat_lab.rescale.event_log import EventLog, Task
from rheostat_lab.rescale.rescale_measures import TAIL_BATCHES

NEARLY = 0.9
"""Share of a rescale's longest batch from which on other batches are shown as well."""


class TimedBatch(NamedTuple):
    """A batch of FILE's ``curve``, its tasks by stage, and other tasks since the previous batch."""

    start_s: float
    end_s: float
    stages: list[list[Task]]
    between: list[Task]
    moved: int
    registered: list[str]


def batches_of(
    curve: Sequence[tuple[float, float]], log: EventLog, partitions: int
) -> list[TimedBatch]:
    """Assign the tasks of the log to the batches of FILE by their times."""
    moved = moves_by_batch(log, partitions)
    of_batch: dict[int, list[Task]] = defaultdict(list)
    others: dict[int, list[Task]] = defaultdict(list)
    ends_s = [start_s + took_s for start_s, took_s in curve]
    for task in sorted(log.tasks, key=lambda task: task.launch_s):
        number = next((i for i, end_s in enumerate(ends_s) if task.launch_s < end_s), len(ends_s))
        (of_batch if log.purpose(task) == "batch" else others)[number].append(task)
    batches = []
    for i, (start_s, took_s) in enumerate(curve):
        stages: dict[tuple[int, int], list[Task]] = defaultdict(list)
        for task in of_batch[i]:
            stages[task.stage].append(task)
        runs = {log.stages[stage].batch for stage in stages}
        came = [
            name
            for name, life in log.executors.items()
            if (ends_s[i - 1] if i else 0.0) <= life.added_s < ends_s[i]
        ]
        count = sum(moved.get(run, 0) for run in runs if run)
        batches.append(
            TimedBatch(start_s, start_s + took_s, list(stages.values()), others[i], count, came)
        )
    return batches


def moves_by_batch(log: EventLog, partitions: int) -> dict[tuple[str, int], int]:
    """Count, for each batch, the state partitions that ran on another executor than before."""
    held: dict[int, str] = {}
    moves = {}
    for batch, holders in sorted(
        log.partition_holders(partitions).items(), key=lambda item: item[0][1]
    ):
        moves[batch] = sum(
            held.get(partition, executor) != executor for partition, executor in holders.items()
        )
        held.update(holders)
    return moves


def by_executor(tasks: Iterable[Task]) -> str:
    """Return one line about the work of the executors."""
    of: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        of[task.executor].append(task)
    parts = []
    for executor, done in sorted(of.items()):
        took_s = [task.finish_s - task.launch_s for task in done]
        cpu_s = sum(task.cpu_s for task in done)
        parts.append(
            f"{executor}: {len(done)} in {sum(took_s):.2f} s, longest {max(took_s):.2f}, CPU"
            f" {cpu_s:.2f}"
        )
    return "; ".join(parts)


def show(batch: TimedBatch, log: EventLog) -> None:
    """Print a batch with its stages."""
    came = ", ".join(batch.registered) or "none"
    say(
        f"  batch of {batch.end_s - batch.start_s:.2f} s, {batch.moved} partitions moved,"
        f" registered: {came}"
    )
    for tasks in batch.stages:
        begin_s, end_s = min(task.launch_s for task in tasks), max(task.finish_s for task in tasks)
        say(
            f"    {len(tasks)} tasks, {begin_s - batch.start_s:.2f} to {end_s - batch.start_s:.2f}"
            f" s: {by_executor(tasks)}"
        )
    for purpose in sorted({log.purpose(task) for task in batch.between}):
        tasks = [task for task in batch.between if log.purpose(task) == purpose]
        begin_s, end_s = (
            tasks[0].launch_s - batch.start_s,
            max(task.finish_s for task in tasks) - batch.start_s,
        )
        say(f"    {purpose or 'other jobs'}, {begin_s:.2f} to {end_s:.2f} s: {by_executor(tasks)}")


def rescales(
    results: dict[str, Any], kind: str, batches: Sequence[TimedBatch]
) -> list[tuple[float, list[TimedBatch]]]:
    """Return the disturbance of each scored rescale of a kind, and its batches; those of a
    scale-out begin with the registration.
    """
    marks = [mark for mark in results["marks"][-results["rescales"] :] if mark[0] == kind]
    rescales_with_batches = []
    for (_, begin_s, settled_s), value in zip(marks, results[kind]["values"], strict=True):
        tail = [batch for batch in batches if batch.start_s >= settled_s][:TAIL_BATCHES]
        held = [
            batch
            for batch in batches
            if batch.end_s > begin_s and batch.start_s < settled_s and batch not in tail
        ] + tail
        first = next((i for i, batch in enumerate(held) if batch.registered), 0)
        rescales_with_batches.append((value, held[first:]))
    return rescales_with_batches


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(line + "\n")


def main(given: list[str]) -> int:
    """Print the rescales of one way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="the output of live_rescale.py")
    parser.add_argument("events", type=Path, help="the way's event log")
    parser.add_argument("--way", default="rheostat")
    parser.add_argument("--kind", choices=("in", "out"), help="only one direction (default both)")
    parser.add_argument(
        "--above",
        type=float,
        default=float("inf"),
        help="show the long batches of rescales above this disturbance",
    )
    read = parser.parse_args(given)
    document = json.loads(read.file.read_text())
    if read.way not in document["ways"]:
        parser.error(f"{read.file} has {', '.join(document['ways'])}, not {read.way!r}")
    results, log = document["ways"][read.way], EventLog()
    log.read(read.events.read_bytes().splitlines(keepends=True))
    batches = batches_of(results["curve"], log, document["what"]["state_partitions"])
    for kind in [read.kind] if read.kind else ["in", "out"]:
        for value, held in rescales(results, kind, batches):
            marked = [
                f"{b.end_s - b.start_s:.2f}{'*' if b.moved else ''}{'+' if b.registered else ''}"
                for b in held
            ]
            say(f"{kind} {value:.2f}: {' '.join(marked)}")
            longest_s = max((batch.end_s - batch.start_s for batch in held), default=0.0)
            for batch in held:
                if value > read.above and batch.end_s - batch.start_s >= NEARLY * longest_s:
                    show(batch, log)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
