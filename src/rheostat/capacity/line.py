"""Recursive fit of a straight line with least relative errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Moments: TypeAlias = Sequence[float]
"""Sums of 1, x, x^2, y and x y over the samples, weighted with 1 / y^2 and by age, and the number
of samples that are not forgotten."""

EMPTY: Moments = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_PRIOR = 1.0
"""Weight of the prior, in samples."""


def with_sample(moments: Moments, x: float, y: float, forget: float) -> list[float]:
    """Return the moments with one more sample; older ones lose the share ``forget`` of their
    information at ``x``.

    With directional forgetting (Cao and Schwartz, 2000) hours of samples at one ``x`` do not erase
    the slope that samples at others showed. Errors are relative, because a batch of ten seconds
    shows little of a fixed cost of 300 ms and one of half a second shows much. ``y`` must be above
    0.
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
    """Return (intercept, slope) of the line; the intercept is at least 0, the slope at least
    ``least``.

    The prior is ``slope`` if given, otherwise an intercept of 0: samples at a single x are
    attributed to the slope. Without samples the prior is returned.
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
