"""What waits now, and when the next batch can begin."""

from __future__ import annotations

from rheostat.capacity.batch import BatchModel
from rheostat.capacity.rollout import Backlog
from rheostat.model import Observation
from rheostat.signals.lag import queued_rows

_LEFT = 1.5
"""Batches that wait although one has just been planned: then a limit of rows lets no more in."""

_SAME = 0.02
"""Batches whose rows differ by less are as large as the limit lets them be."""

_STILL = 0.1
"""A batch that should be over lasts so much of its time longer."""


def waiting(now: Observation, model: BatchModel, rate: float, longer: float) -> Backlog:
    """Return the backlog, with the batch that runs as the model has it; where the source tells no
    offsets, what came since the last batch began.
    """
    if now.in_flight is None:
        return _between(now, rate)
    elapsed_s, trigger_s = now.in_flight.elapsed_s, now.trigger_s or 0.0
    slots = (now.executors or 1) * (now.slots_per_executor or 1)
    rows, queued = float(now.in_flight.rows or now.batch_rows or 0), queued_rows(now)
    left = rate * elapsed_s if queued is None else max(0.0, queued - rows)
    takes_s = model.batch_s(rows, slots) * longer
    ends_s = max(takes_s - elapsed_s, _STILL * elapsed_s)
    # its oldest row came when the batch before it was planned
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
    """Return the rows that a batch may have, where it shows: two batches of one size, and more than
    another left behind when the last was planned. Between two batches what was ``known`` holds
    while as much waits. None where there is no sign of a limit.
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
