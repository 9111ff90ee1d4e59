"""The backlog at a decision, and when the next batch can begin."""

from __future__ import annotations

from rheostat.capacity.batch import BatchModel
from rheostat.capacity.rollout import Backlog
from rheostat.model import Observation
from rheostat.signals.lag import queued_rows

_LEFT = 1.5
"""Batches of backlog left behind by a newly planned batch: more indicate a limit of rows."""

_SAME = 0.02
"""Two batches whose rows differ by less than this share have the size of the limit."""

_STILL = 0.1
"""Share of its duration that an overdue batch is expected to last longer."""


def waiting(now: Observation, model: BatchModel, rate: float, longer: float) -> Backlog:
    """Return the backlog and the predicted rest of the running batch; without offsets of the source
    the backlog is the arrivals since that batch began.
    """
    if now.in_flight is None:
        return _between(now, rate)
    elapsed_s, trigger_s = now.in_flight.elapsed_s, now.trigger_s or 0.0
    slots = (now.executors or 1) * (now.slots_per_executor or 1)
    rows, queued = float(now.in_flight.rows or now.batch_rows or 0), queued_rows(now)
    left = rate * elapsed_s if queued is None else max(0.0, queued - rows)
    takes_s = model.batch_s(rows, slots) * longer
    ends_s = max(takes_s - elapsed_s, _STILL * elapsed_s)
    # The oldest row of a batch arrived when the previous batch was planned.
    before_s = max(trigger_s, now.batch_s or 0.0)
    return Backlog(
        rows=left,
        since_s=-elapsed_s,
        begins_s=max(ends_s, trigger_s - elapsed_s),
        ends_s=ends_s,
        running_rows=rows,
        oldest_s=-elapsed_s - before_s,
    )


def rows_limit(now: Observation, known: int | None = None) -> int | None:
    """Return the detected limit of rows per batch; None without a sign of one.

    A limit shows in two batches of equal size, the last of which left more than another one behind.
    Between two batches the ``known`` limit holds while the backlog is as large.
    """
    rate = now.input_rows_per_s or 0.0
    running, queued, before = now.in_flight, queued_rows(now), now.batch_rows
    if not before or queued is None:
        return None
    if running is None or not running.rows:
        return known if known and queued > _LEFT * known else None
    left = queued - running.rows - rate * running.elapsed_s
    same = abs(running.rows - before) <= _SAME * before
    return running.rows if same and left > _LEFT * running.rows else None


def _between(now: Observation, rate: float) -> Backlog:
    trigger_s, queued = now.trigger_s or 0.0, queued_rows(now)
    rows = rate * trigger_s if queued is None else queued
    since_s = -rows / rate if rate > 0 else 0.0
    return Backlog(rows, since_s, max(0.0, trigger_s + since_s))
