"""The batch that runs now: progress events come at its end, and the one batch that is late is the one that matters."""

from __future__ import annotations

import math
from typing import Any

from rheostat.model import InFlight
from rheostat.spark.progress import Batch


def in_flight(query: Any, last: Batch | None, trigger_s: float | None, now: float, tracker: Any | None) -> InFlight | None:
    """Return the running batch of a query (``StreamingQuery.status``); None between two batches.

    ``tracker`` is the application's StatusTracker, for the tasks done and left of its active stages; leave it out
    where several queries run, because their tasks cannot be told apart there.
    """
    status = query.status
    if not status.get("isTriggerActive") or last is None:
        return None
    elapsed_s = max(0.0, now - batch_start_s(last, trigger_s))
    done, left = _tasks(tracker) if tracker is not None else (None, None)
    return InFlight(elapsed_s=elapsed_s, tasks_done=done, tasks_left=left)


def batch_start_s(last: Batch, trigger_s: float | None) -> float:
    """Return when the batch after ``last`` began: at its end, or at the next multiple of the interval if it ended in time.

    Source: Spark's ProcessingTimeExecutor, whose batches start at multiples of the interval.
    """
    if not trigger_s:
        return last.commit_s
    next_s = (math.floor(last.start_s / trigger_s) + 1) * trigger_s
    return max(last.commit_s, next_s)


def _tasks(tracker: Any) -> tuple[int | None, int | None]:
    stages = [stage for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()) if stage is not None]
    if not stages:
        return None, None
    done = sum(stage.numCompletedTasks for stage in stages)
    return done, sum(stage.numTasks for stage in stages) - done
