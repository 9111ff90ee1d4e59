"""Batches in which a slot was free while one of their tasks was pending, because the scheduler
waited for a preferred executor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rheostat_lab.rescale.event_log import EventLog, Life, Task

LONG_S = 1.0


@dataclass(frozen=True, slots=True)
class Stall:
    """In a batch (run id of the query, batch id), a slot was free and a task pending for
    ``seconds`` without interruption, from ``begin_s`` (Unix seconds) on.
    """

    batch: tuple[str, int]
    begin_s: float
    seconds: float


def stalls(log: EventLog, longer_than_s: float = LONG_S) -> list[Stall]:
    """Return the longest stall of each batch that has one.

    A task is pending from the submission of its stage to its launch. The slots of an executor count
    from its registration to its removal, or to the end of its last task if it was removed later,
    because an executor that is leaving accepts none although it is still registered.
    """
    launches: dict[tuple[int, int], list[float]] = {}
    by_batch: dict[tuple[str, int], list[Task]] = {}
    for task in log.tasks:
        stage = log.stages.get(task.stage)
        if stage and stage.batch:
            launches.setdefault(task.stage, []).append(task.launch_s)
            by_batch.setdefault(stage.batch, []).append(task)
    last_finish = {
        task.executor: task.finish_s for task in sorted(log.tasks, key=lambda task: task.finish_s)
    }
    spans = [
        (life.added_s, _usable_until(name, life, last_finish), life.cores)
        for name, life in log.executors.items()
    ]
    longest: dict[tuple[str, int], Stall] = {}
    for key, launched_s in launches.items():
        stage = log.stages[key]
        if stage.batch is None or max(launched_s) - stage.submitted_s <= longer_than_s:
            continue
        begin_s, seconds = _longest(
            stage.submitted_s, max(launched_s), by_batch[stage.batch], spans
        )
        known = longest.get(stage.batch)
        if seconds > longer_than_s and (known is None or seconds > known.seconds):
            longest[stage.batch] = Stall(stage.batch, begin_s, seconds)
    return sorted(longest.values(), key=lambda stall: stall.begin_s)


def _usable_until(executor: str, life: Life, last_finish: dict[str, float]) -> float:
    if life.removed_s is None:
        return float("inf")
    return min(life.removed_s, last_finish.get(executor, life.added_s))


def _longest(
    begin_s: float, end_s: float, tasks: Sequence[Task], spans: Sequence[tuple[float, float, int]]
) -> tuple[float, float]:
    """Return begin and length of the longest time with a free slot between a stage's submission and
    the launch of its last task.

    ``tasks`` are all of the batch, because a join reads its sides in concurrent stages. Tasks of
    other queries are unknown: their slots count as free.
    """
    changes = [(max(task.launch_s, begin_s), -1) for task in tasks if task.finish_s > begin_s]
    changes += [(task.finish_s, 1) for task in tasks if task.finish_s > begin_s]
    for added_s, until_s, cores in spans:
        if until_s > begin_s:
            changes += [(max(added_s, begin_s), cores), (until_s, -cores)]
    free, longest, since = 0, (0.0, 0.0), None
    for at_s, change in [*sorted(changes, key=lambda pair: (pair[0], -pair[1])), (end_s, 0)]:
        now_s = min(at_s, end_s)
        if since is not None and now_s - since > longest[1]:
            longest = (since, now_s - since)
        if at_s >= end_s:
            break
        free += change
        since = None if free <= 0 else (now_s if since is None else since)
    return longest
