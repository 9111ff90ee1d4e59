"""The batch that runs now: progress events come at its end, and the one batch that is late is the
one that matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rheostat.model import InFlight
from rheostat.signals.rhythm import next_trigger_s
from rheostat.spark.sensing.queries.progress import ReportedBatch

_BATCH_MESSAGES = ("Writing offsets", "No new data but")
"""What MicroBatchExecution says while it plans a batch, and while it runs one without data, which
closes windows."""


def in_flight(
    status: Mapping[str, Any],
    last: ReportedBatch | None,
    trigger_s: float | None,
    now: float,
    tracker: Any | None = None,
    quiet_s: float = 0.0,
) -> InFlight | None:
    """Return the running batch of a query from its ``StreamingQuery.status``; None between two
    batches.

    ``quiet_s`` is when the query was last seen without one: after a pause the batch began later
    than that. ``tracker`` is the application's StatusTracker, for the tasks done and left of its
    active stages; leave it out where several queries run, because their tasks cannot be told apart
    there.
    """
    # Before the first progress nothing tells when the batch began.
    if last is None or not runs_batch(status):
        return None
    elapsed_s = max(0.0, now - batch_start_s(last, trigger_s, quiet_s))
    done, left = stage_tasks(tracker) if tracker is not None else (None, None)
    return InFlight(elapsed_s=elapsed_s, tasks_done=done, tasks_left=left)


def runs_batch(status: Mapping[str, Any]) -> bool:
    """Tell whether a batch runs: an active trigger of an idle query only asks its sources, many
    times a second.
    """
    planned = str(status.get("message", "")).startswith(_BATCH_MESSAGES)
    return bool(status.get("isTriggerActive") and (status.get("isDataAvailable") or planned))


def batch_start_s(last: ReportedBatch, trigger_s: float | None, quiet_s: float = 0.0) -> float:
    """Return when the batch after ``last`` began: at its end, or at the next multiple of the
    interval if it ended in time.

    If none ran at ``quiet_s``, it began after that. Source: Spark's ProcessingTimeExecutor, whose
    batches start at multiples of the interval.
    """
    if not trigger_s:
        return max(last.commit_s, quiet_s)
    return max(
        next_trigger_s(last.start_s, last.commit_s, trigger_s),
        math.ceil(quiet_s / trigger_s) * trigger_s,
    )


def stage_tasks(tracker: Any) -> tuple[int | None, int | None]:
    """Return the tasks done and left of the active stages; None without any."""
    stages = [
        stage
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds())
        # Spark may have dropped the stage between the two questions.
        if stage is not None
    ]
    if not stages:
        return None, None
    done = sum(stage.numCompletedTasks for stage in stages)
    return done, sum(stage.numTasks for stage in stages) - done
