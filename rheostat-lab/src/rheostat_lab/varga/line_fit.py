"""Statistics of repeated measurements: a line through them, and their spread at each place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Fit:
    """A least-squares line through ``n`` points; ``r2`` is the explained share of the variance."""

    slope: float
    intercept: float
    r2: float
    n: int


@dataclass(frozen=True, slots=True)
class Place:
    """The ``n`` measured values at one ``x``."""

    x: float
    mean: float
    low: float
    high: float
    n: int


def linear(points: Sequence[Point]) -> Fit | None:
    """Return the line; None for fewer than three points, or if all have the same x."""
    if len(points) < 3 or len({x for x, _ in points}) < 2:
        return None
    x, y = (np.array(values, dtype=float) for values in zip(*points, strict=True))
    slope, intercept = np.polyfit(x, y, 1)
    rest = float(np.sum((y - (slope * x + intercept)) ** 2))
    total = float(np.sum((y - y.mean()) ** 2))
    return Fit(float(slope), float(intercept), 1 - rest / total if total else 1.0, len(points))


def places(points: Iterable[Point]) -> list[Place]:
    """Return mean, minimum and maximum at each x, in the order of x."""
    by_x: dict[float, list[float]] = {}
    for x, y in points:
        by_x.setdefault(x, []).append(y)
    return [
        Place(x, mean(values), min(values), max(values), len(values))
        for x, values in sorted(by_x.items())
    ]
