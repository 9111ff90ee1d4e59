"""The running batch of a query, of which no progress event arrives before its end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rheostat.model import InFlight
from rheostat.signals.rhythm import next_trigger_s
from rheostat.spark.sensing.progress import ReportedBatch

_BATCH_MESSAGES = ("Writing offsets", "No new data but")
"""MicroBatchExecution's status messages during planning, and during a batch without data, which
closes windows.
"""


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

    ``quiet_s`` is the Unix time at which the query was last observed without a batch: after a pause
    the batch started later than that. ``tracker`` is the application's StatusTracker, which counts
    the done and remaining tasks of the active stages; omit it if several queries run, because it
    does not attribute tasks to queries.
    """
    # Before the first progress event the start of the batch is unknown.
    if last is None or not runs_batch(status):
        return None
    elapsed_s = max(0.0, now - batch_start_s(last, trigger_s, quiet_s))
    done, left = stage_tasks(tracker) if tracker is not None else (None, None)
    return InFlight(elapsed_s=elapsed_s, tasks_done=done, tasks_left=left)


def runs_batch(status: Mapping[str, Any]) -> bool:
    """Return whether a batch runs; an idle query's active trigger only polls its sources."""
    planned = str(status.get("message", "")).startswith(_BATCH_MESSAGES)
    return bool(status.get("isTriggerActive") and (status.get("isDataAvailable") or planned))


def batch_start_s(last: ReportedBatch, trigger_s: float | None, quiet_s: float = 0.0) -> float:
    """Return the Unix time at which the batch after ``last`` started: at the end of ``last``, or at
    the next multiple of the trigger interval if that is later.

    If no batch ran at ``quiet_s``, it started after that. Source: Spark's ProcessingTimeExecutor,
    which starts batches at multiples of the interval.
    """
    if not trigger_s:
        return max(last.commit_s, quiet_s)
    return max(
        next_trigger_s(last.start_s, last.commit_s, trigger_s),
        math.ceil(quiet_s / trigger_s) * trigger_s,
    )


def stage_tasks(tracker: Any) -> tuple[int | None, int | None]:
    """Return the done and the remaining tasks of the active stages; None without active stages."""
    stages = [
        stage
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds())
        # Spark may have dropped the stage between the two calls.
        if stage is not None
    ]
    if not stages:
        return None, None
    done = sum(stage.numCompletedTasks for stage in stages)
    return done, sum(stage.numTasks for stage in stages) - done
