"""A forecast of the arrival rate by horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HORIZONS_S = (5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0)

_SOON_S = 120.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """Quantiles of the rate (50 %, 90 %, 99 %) now and at each horizon, in rows/s."""

    t_s: tuple[float, ...]
    p50: tuple[float, ...]
    p90: tuple[float, ...]
    p99: tuple[float, ...]

    def path(self, rates: Sequence[float]) -> list[tuple[float, float]]:
        """Return (seconds from now, rate) pairs of one of the quantiles."""
        return list(zip(self.t_s, rates, strict=True))

    def until_above(self, limit: float) -> float:
        """Return the seconds until the 90 % path rises above a rate; 0 if it stays above it."""
        below = False
        for t_s, rate in zip(self.t_s, self.p90, strict=True):
            if rate > limit and (below or t_s > _SOON_S):
                return t_s if below else 0.0
            below = below or rate <= limit
        return 2 * self.t_s[-1] if below else 0.0
