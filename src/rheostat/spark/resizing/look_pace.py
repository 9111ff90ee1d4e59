"""How often the rescale controller looks: as often as something may happen, and seldom where
nothing has for long.
"""

from __future__ import annotations

POLL_S, COUNT_S, CALM_S = 0.025, 0.1, 1.0
"""How often a boundary is looked for; how often executors are counted while some are to come or go;
and while nothing is under way."""

EAGER_S, SLOW_S = 60.0, 0.2
"""Where nothing has changed for ``EAGER_S``, and as long as no batch is likely to end, a boundary
is looked for every ``SLOW_S``.

More seldom, none would be fresh when it is seen (``rounds.FRESH_S``).
"""
OVERDUE_SHARE = 0.05
"""How late the end of a batch may be seen, as a share of the time since it was likely first."""


class Pace:
    """Tells the pause until the next look from what is under way, and from when anything has
    changed last.
    """

    def __init__(self) -> None:
        self._facts: object = None
        self._changed_s = float("-inf")

    def note(self, facts: object, now: float) -> None:
        """Take what is so; what differs from the last time is a change."""
        if facts != self._facts:
            self._facts, self._changed_s = facts, now

    def pause_s(self, busy: bool, phase: str, now: float, next_end_s: float | None = None) -> float:
        """Return how long to wait; ``busy``: a batch boundary is waited for, and before
        ``next_end_s`` none is likely; ``phase``: that of the change of size.
        """
        if not busy:
            return COUNT_S if self.changes(phase, now) else CALM_S
        if not self._eager(now):
            return SLOW_S
        if next_end_s is None:
            return POLL_S
        if now < next_end_s:
            # A batch that ends sooner than any of the last must be met as well.
            return min(SLOW_S, max(POLL_S, next_end_s - now))
        # After a long batch comes another, which reads for longer before it needs its state.
        return min(COUNT_S, max(POLL_S, OVERDUE_SHARE * (now - next_end_s)))

    def changes(self, phase: str, now: float) -> bool:
        """Tell whether a change of size is under way and something has come of it within
        ``EAGER_S``.
        """
        # A blocked change waits for something outside, perhaps for hours: it needs no close look.
        return phase not in ("steady", "blocked") and self._eager(now)

    def _eager(self, now: float) -> bool:
        return now - self._changed_s < EAGER_S
