"""Detects a competing program, which repeatedly changes the size that was set last.

A single change is a person's, or a start. Three within two minutes are a program's: an HPA acts
every 15 s, and plugins that imitate one at least as often.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST, WITHIN_S = 3, 120.0
OTHER = "another program requested"
"""The beginning of another program's request in the journal."""


@dataclass(frozen=True, slots=True)
class ConflictHistory:
    """The times at which others set the size, in seconds of any epoch, and their last size."""

    times_s: tuple[float, ...] = ()
    size: int | None = None

    def recorded(self, size: int, now: float) -> ConflictHistory:
        """Return the history after another program set the size to ``size``."""
        # A time in the future means that the clock was set back; it must not count for hours.
        kept = tuple(at_s for at_s in self.times_s if 0 <= now - at_s < WITHIN_S)
        return ConflictHistory((*kept[1 - MOST :], now), size)

    def is_conflict(self, now: float) -> bool:
        """Return whether the size was set ``MOST`` times within the last ``WITHIN_S`` seconds."""
        return sum(0 <= now - at_s < WITHIN_S for at_s in self.times_s) >= MOST
