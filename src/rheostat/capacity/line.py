"""A straight line through samples that come one after the other, by least relative errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Moments: TypeAlias = Sequence[float]
"""Sums over the samples, each weighted with 1 / y^2 and its age: 1, x, x^2, y, x y, and the number
of samples that are not forgotten."""

EMPTY: Moments = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_PRIOR = 1.0
"""Samples that the prior is worth."""


def with_sample(moments: Moments, x: float, y: float, forget: float) -> list[float]:
    """Return the moments with one sample more; ``forget`` is the share that older ones lose.

    A sample counts by its relative error: a batch of ten seconds says nothing of a fixed cost of
    300 ms, one of half a second says much. ``y`` must be above 0.
    """
    weight = 1 / (y * y)
    new = (weight, x * weight, x * x * weight, y * weight, x * y * weight, 1.0)
    return [(1 - forget) * old + more for old, more in zip(moments, new, strict=True)]


def through(moments: Moments, slope: float | None = None) -> tuple[float, float]:
    """Return (intercept, slope), both at least 0, of a line through the samples.

    The prior is ``slope`` where it is given, else an intercept of 0: what samples of one x cannot
    tell apart is taken for slope. Without samples: the prior.
    """
    ones, xs, squares, ys, products, count = moments
    if count <= 0 or squares <= 0:
        return 0.0, slope or 0.0
    share = _PRIOR / count
    if slope is None:
        ones *= 1 + share
    else:
        products += share * squares * slope
        squares *= 1 + share
    determinant = ones * squares - xs * xs
    if determinant <= 1e-12 * ones * squares:
        return 0.0, products / squares
    intercept = (ys * squares - xs * products) / determinant
    rises = (ones * products - xs * ys) / determinant
    if rises < 0:
        return ys / ones, 0.0
    return (intercept, rises) if intercept >= 0 else (0.0, products / squares)
