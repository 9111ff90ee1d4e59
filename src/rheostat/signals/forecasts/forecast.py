"""A forecast: the rates to come, by horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HORIZONS_S = (5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0)

_SOON_S = 120.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """Rates by horizon, from now (0 s) on: the 50 %, 90 % and 99 % quantiles."""

    t_s: tuple[float, ...]
    p50: tuple[float, ...]
    p90: tuple[float, ...]
    p99: tuple[float, ...]

    def path(self, rates: Sequence[float]) -> list[tuple[float, float]]:
        """Return (seconds from now, rate) of one of the three."""
        return list(zip(self.t_s, rates, strict=True))

    def until_above(self, limit: float) -> float:
        """Return the seconds until the 90 % path next rises above a rate (0: above it for long)."""
        below = False
        for t_s, rate in zip(self.t_s, self.p90, strict=True):
            if rate > limit and (below or t_s > _SOON_S):
                return t_s if below else 0.0
            below = below or rate <= limit
        return 2 * self.t_s[-1] if below else 0.0
