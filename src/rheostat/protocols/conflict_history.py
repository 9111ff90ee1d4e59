"""Detects another program that sets the same size: the size repeatedly differs from what was set
last.

Once is a person, or a start. Three times within two minutes is a competing program: an HPA acts
every 15 s, and plugins that imitate one at least as often.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST, WITHIN_S = 3, 120.0
OTHER = "another program asked Spark for"
"""How another program's request begins in the journal."""


@dataclass(frozen=True, slots=True)
class ConflictHistory:
    """When others have set the size, in seconds of any epoch, and the last one they set."""

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
