"""The polling interval of the rescale controller: short while changes are likely, longer after a
quiet period.
"""

from __future__ import annotations

POLL_S, COUNT_S, IDLE_S = 0.025, 0.1, 1.0
"""Polling intervals in seconds: for a batch boundary, for executors that are about to register or
to be removed, and while nothing is in progress."""

RECENT_S, SLOW_S = 60.0, 0.2
"""After ``RECENT_S`` seconds without a change, and as long as no batch is likely to end, a boundary
is polled every ``SLOW_S`` seconds.

A longer interval would exceed ``batch_boundaries.FRESH_S``.
"""
OVERDUE_SHARE = 0.05
"""The maximum delay of detecting a batch's end, as a share of the time since it became likely."""


class Pace:
    """Computes the pause until the next poll from the work in progress and the time of the last
    change.
    """

    def __init__(self) -> None:
        self._facts: object = None
        self._changed_s = float("-inf")

    def note(self, facts: object, now: float) -> None:
        """Take the current facts; a difference from the last ones is a change."""
        if facts != self._facts:
            self._facts, self._changed_s = facts, now

    def pause_s(self, busy: bool, phase: str, now: float, next_end_s: float | None = None) -> float:
        """Return the seconds until the next poll; ``busy``: a batch boundary is awaited, which is
        not likely before ``next_end_s`` (Unix seconds); ``phase`` is that of the rescale.
        """
        if not busy:
            return COUNT_S if self.changes(phase, now) else IDLE_S
        if not self._changed_recently(now):
            return SLOW_S
        if next_end_s is None:
            return POLL_S
        if now < next_end_s:
            # A batch may also end sooner than any recent one.
            return min(SLOW_S, max(POLL_S, next_end_s - now))
        # The batch after a long one is long as well, so it needs its state later.
        return min(COUNT_S, max(POLL_S, OVERDUE_SHARE * (now - next_end_s)))

    def changes(self, phase: str, now: float) -> bool:
        """Return whether a rescale is in progress and has changed something within ``RECENT_S``."""
        # A blocked rescale may wait for hours and needs no frequent polling.
        return phase not in ("steady", "blocked") and self._changed_recently(now)

    def _changed_recently(self, now: float) -> bool:
        return now - self._changed_s < RECENT_S
