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
    """Return the moments with one sample more; ``forget`` is the share that older ones lose of what
    they say of lines at ``x``.

    Directional forgetting (Cao and Schwartz, 2000): samples of one x that go on for hours do not
    take away what others said of the slope.

    A sample counts by its relative error: a batch of ten seconds says nothing of a fixed cost of
    300 ms, one of half a second says much. ``y`` must be above 0.
    """
    ones, xs, squares, ys, products, count = moments
    of_one, of_x, of_y = ones + xs * x, xs + squares * x, ys + products * x
    share = forget / along if (along := of_one + of_x * x) > 0 else 0.0
    weight = 1 / (y * y)
    return [
        ones - share * of_one * of_one + weight,
        xs - share * of_one * of_x + x * weight,
        squares - share * of_x * of_x + x * x * weight,
        ys - share * of_one * of_y + y * weight,
        products - share * of_x * of_y + x * y * weight,
        (1 - forget) * count + 1.0,
    ]


def through(
    moments: Moments, slope: float | None = None, least: float = 0.0
) -> tuple[float, float]:
    """Return (intercept, slope) of a line through the samples; the intercept is at least 0, the
    slope at least ``least``.

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
    if rises < least:
        return max(0.0, (ys - least * xs) / ones), least
    return (intercept, rises) if intercept >= 0 else (0.0, products / squares)
