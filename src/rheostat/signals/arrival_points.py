"""The points of an arrival curve, kept for as long as rows may wait and in bounded memory."""

from __future__ import annotations

from bisect import bisect_left
from typing import TypeAlias

Points: TypeAlias = tuple[tuple[float, float], ...]
"""(time, rows that have arrived by then), both non-decreasing."""

MAX_POINTS = 240
"""Gaps are then at most a tenth of their age for more than a day of points."""


def with_point(points: Points, t_s: float, rows: float) -> Points:
    """Return the curve with one more point; a lower newest point resets it."""
    at = bisect_left(points, (t_s,))
    before, after = points[:at], points[at:]
    if after and (after[0][0] == t_s or after[0][1] < rows):
        return points
    if before and before[-1][1] > rows:
        return points if after else ((t_s, rows),)
    return _thinned((*before, (t_s, rows), *after))


def _thinned(points: Points) -> Points:
    """Drop the inner point that leaves the smallest gap relative to its age."""
    if len(points) <= MAX_POINTS:
        return points
    now = points[-1][0]
    least = min(
        range(1, len(points) - 1),
        key=lambda i: (points[i + 1][0] - points[i - 1][0]) / (now - points[i][0]),
    )
    return (*points[:least], *points[least + 1 :])
