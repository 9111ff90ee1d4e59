"""Arrival rates as means over intervals of one length: the input series of forecasts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

_GAP = 10
"""Number of intervals without a sample after which a new series begins."""


def with_rate(
    kept: Mapping[str, Any], t_s: float, rate_per_s: float, interval_s: float, most: int
) -> dict[str, Any]:
    """Return the series with one more sample: ``means``, oldest first, at most ``most``.

    A clock that was set back, or a gap, starts a new series.
    """
    place = math.floor(t_s / interval_s)
    passed = place - kept.get("place", place)
    if not kept or not 0 <= passed < _GAP:
        return {"means": [], "place": place, "sum": rate_per_s, "count": 1}
    if passed == 0:
        total, count = kept["sum"] + rate_per_s, kept["count"] + 1
        return {"means": kept["means"], "place": place, "sum": total, "count": count}
    mean = kept["sum"] / kept["count"]  # intervals without a sample repeat the previous mean
    means: Sequence[float] = [*kept["means"], *[mean] * passed]
    return {"means": list(means[-most:]), "place": place, "sum": rate_per_s, "count": 1}
