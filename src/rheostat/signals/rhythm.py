"""Batches and pauses of a query, derived from its trigger interval and finished batches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

REMEMBERED = 9
"""Number of batches without a move of state whose median is the usual batch."""

RECENT = 5
"""Number of batches that decide whether a query has pauses."""

_BEGINS_WITHIN_S = 1.0
"""Seconds in which a trigger with new rows starts its batch: it queries the sources and plans."""


class BatchTime(NamedTuple):
    """A finished batch: its number, its start in Unix seconds, and its duration."""

    number: int
    start_s: float
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """The known batch times of one run of a query; ``trigger_s`` is 0 for back-to-back batches."""

    trigger_s: float = 0.0
    last: BatchTime | None = None
    """The last finished batch; None before the first."""

    recent_s: tuple[float, ...] = ()
    """Durations of the last batches, at most ``RECENT``."""

    quiet_s: tuple[float, ...] = ()
    """Durations of the last batches in which no state moved, at most ``REMEMBERED``."""

    def after(self, batch: BatchTime, moved: bool = False) -> Rhythm:
        """Return the rhythm after one more batch; ``moved``: it loaded state that was moved."""
        recent_s = (*self.recent_s, batch.duration_s)[-RECENT:]
        # Kept separately: a batch that loads state would lengthen the usual batch.
        quiet_s = self.quiet_s if moved else (*self.quiet_s, batch.duration_s)[-REMEMBERED:]
        return Rhythm(trigger_s=self.trigger_s, last=batch, recent_s=recent_s, quiet_s=quiet_s)

    @property
    def usual_batch_s(self) -> float | None:
        """Median duration of batches in which no state moved; None before the first."""
        return median(self.quiet_s) if self.quiet_s else None

    @property
    def usual_pause_s(self) -> float | None:
        """The trigger interval minus the usual batch; None before the first batch."""
        usual_s = self.usual_batch_s
        return None if usual_s is None else max(0.0, self.trigger_s - usual_s)

    @property
    def shortest_batch_s(self) -> float:
        """The shortest of the recent batches; infinity before the first."""
        return min(self.recent_s, default=math.inf)

    @property
    def longest_pause_s(self) -> float:
        """The longest pause after one of the recent batches; 0 without an interval."""
        return max(0.0, self.trigger_s - self.shortest_batch_s)

    @property
    def next_commit_s(self) -> float | None:
        """Earliest end of the next batch in Unix seconds; None before the first batch."""
        if self.last is None:
            return None
        begun_s, ended_s = self.last.start_s, self.last.start_s + self.last.duration_s
        due_s = next_trigger_s(begun_s, ended_s, self.trigger_s) if self.trigger_s else ended_s
        return due_s + self.shortest_batch_s / 2

    def pause_left_s(self, now: float) -> float:
        """Return for how long after ``now`` (Unix seconds) no batch begins; 0 without an interval.

        A trigger without new rows starts no batch; an overrun trigger fires immediately (Spark's
        ProcessingTimeExecutor).
        """
        if self.last is None or not self.trigger_s:
            return 0.0
        begun_s = self.last.start_s
        due_s = next_trigger_s(begun_s, begun_s + self.last.duration_s, self.trigger_s)
        if now < due_s:
            return due_s - now
        # Past the due time without a batch: that trigger had no rows, so the next one counts.
        return 0.0 if now - due_s < _BEGINS_WITHIN_S else self.trigger_s - now % self.trigger_s


def next_trigger_s(start_s: float, commit_s: float, trigger_s: float) -> float:
    """Return when the batch after one from ``start_s`` to ``commit_s`` is due, in Unix seconds."""
    # Multiples of the interval since 1970, not since the start of the query.
    return max(commit_s, (math.floor(start_s / trigger_s) + 1) * trigger_s)
