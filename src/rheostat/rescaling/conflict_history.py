"""Somebody else who sets the same number: seen where it is not as it was left, again and again.

Once is a person, or a start. Three times within two minutes is a program that fights: an HPA looks
every 15 s, and a plugin that imitates one no less often.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST, WITHIN_S = 3, 120.0
OTHER = "another program asked Spark for"
"""How a request that is not Rheostat's begins in the journal."""


@dataclass(frozen=True, slots=True)
class ConflictHistory:
    """When others have set the number, in seconds of any epoch, and to what at last."""

    times_s: tuple[float, ...] = ()
    size: int | None = None

    def seen(self, size: int, now: float) -> ConflictHistory:
        """Return it after somebody else was seen to have set the number to ``size``."""
        # A time in the future is of a clock that was put back, and must not count for hours.
        kept = tuple(at_s for at_s in self.times_s if 0 <= now - at_s < WITHIN_S)
        return ConflictHistory((*kept[1 - MOST :], now), size)

    def fights(self, now: float) -> bool:
        """Tell whether it was set ``MOST`` times within the last ``WITHIN_S`` seconds."""
        return sum(0 <= now - at_s < WITHIN_S for at_s in self.times_s) >= MOST
