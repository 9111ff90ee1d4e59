"""Task times where state had moved and where executors were new, next to those of the same tasks
elsewhere, from Spark's event log.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.spark.internals.placed_tasks import HOLDS
from rheostat_lab.rescale.event_log import EventLog, Task


@dataclass(frozen=True, slots=True)
class Times:
    """The durations of ``n`` tasks: median and maximum in seconds."""

    n: int
    median_s: float
    max_s: float


def moved_and_others(log: EventLog, partitions: int, since_s: float = 0.0) -> dict[str, Times]:
    """Return the times of state tasks in the batches in which partitions moved, from ``since_s``
    (Unix seconds) on.

    ``moved`` are those of the partitions that moved, ``others`` those of the same batches that did
    not. Fails when the query has several stateful operators in separate stages: only the last one
    counts.
    """
    held: dict[int, str] = {}
    groups: dict[str, list[Task]] = {"moved": [], "others": []}
    for _, tasks in sorted(log.state_tasks(partitions).items(), key=lambda batch: batch[0][1]):
        moved = {i for i, task in tasks.items() if held.get(i, task.executor) != task.executor}
        if moved and min(task.launch_s for task in tasks.values()) >= since_s:
            for i, task in tasks.items():
                groups["moved" if i in moved else "others"].append(task)
        held.update({i: task.executor for i, task in tasks.items()})
    return {name: times(tasks) for name, tasks in groups.items() if tasks}


def first_tasks(log: EventLog, since_s: float = 0.0) -> dict[str, Times]:
    """Return the time of the first task of each executor that registered after ``since_s`` (Unix
    seconds), by purpose.

    The purposes are those of ``EventLog.purpose``. An executor whose first task belongs to a batch
    had to run it cold. A task that only occupied the executor does not count, because it has
    prepared nothing.
    """
    first: dict[str, Task] = {}
    for task in sorted(log.tasks, key=lambda task: task.launch_s):
        if log.purpose(task) != HOLDS:
            first.setdefault(task.executor, task)
    new = [
        task
        for name, task in first.items()
        if name in log.executors and log.executors[name].added_s >= since_s
    ]
    purposes = sorted({log.purpose(task) for task in new})
    return {
        purpose: times([task for task in new if log.purpose(task) == purpose])
        for purpose in purposes
    }


def times(tasks: Sequence[Task]) -> Times:
    """Return the times of some tasks; raises ``statistics.StatisticsError`` if there are none."""
    took_s = [task.finish_s - task.launch_s for task in tasks]
    return Times(len(took_s), round(statistics.median(took_s), 3), round(max(took_s), 3))
