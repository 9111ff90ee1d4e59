"""The demand of a load over several seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rheostat.sim.demand import DemandCurve


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Executors that a load needs, over seeds: median, minimum, maximum; None if none suffices."""

    rate_per_s: float
    executors: int | None
    low: int | None
    high: int | None


def demands(curves: Sequence[DemandCurve]) -> tuple[Demand, ...]:
    """Return the demand at each load over the curves of several seeds (upper median)."""
    summaries = []
    for place, rate in enumerate(curves[0].rates):
        # Infinity sorts above every size, so it can be the median and means that none suffices.
        sizes = [float(curve.executors[place]) if curve.held[place] else np.inf for curve in curves]
        median, low, high = (
            int(size) if np.isfinite(size) else None
            for size in (statistics.median_high(sizes), min(sizes), max(sizes))
        )
        summaries.append(Demand(rate_per_s=rate, executors=median, low=low, high=high))
    return tuple(summaries)
