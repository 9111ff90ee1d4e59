"""Latency of a row: the commit time of its batch minus the time at which its source appended it."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Points: TypeAlias = tuple[tuple[float, float], ...]
"""(time, rows that have arrived by then), both non-decreasing."""

MAX_POINTS = 240
"""Number of points that keeps gaps below a tenth of their age for more than a day."""


def with_point(points: Points, t_s: float, rows: float) -> Points:
    """Return the curve with one more point; a newest point with fewer rows starts a new curve."""
    at = bisect_left(points, (t_s,))
    before, after = points[:at], points[at:]
    if after and (after[0][0] == t_s or after[0][1] < rows):
        return points
    if before and before[-1][1] > rows:
        return points if after else ((t_s, rows),)
    return _thinned((*before, (t_s, rows), *after))


def _thinned(points: Points) -> Points:
    """Return the points without the inner one whose removal leaves the smallest gap for its age."""
    if len(points) <= MAX_POINTS:
        return points
    now = points[-1][0]
    least = min(
        range(1, len(points) - 1),
        key=lambda i: (points[i + 1][0] - points[i - 1][0]) / (now - points[i][0]),
    )
    return (*points[:least], *points[least + 1 :])


@dataclass(frozen=True, slots=True)
class Spread:
    """Rows whose latencies lie evenly between ``low_s`` and ``high_s``."""

    low_s: float
    high_s: float
    rows: float


@dataclass(frozen=True, slots=True)
class Wait:
    """How long the rows in a queue have waited."""

    oldest_s: float
    mean_s: float


class ArrivalCurve:
    """Rows appended so far over time: a polyline through (t_s, rows), both non-decreasing."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self._t = [t for t, _ in points]
        self._rows = [rows for _, rows in points]

    def time_of(self, row: float) -> float | None:
        """Return when row number ``row`` (from 0) was appended; None if it is outside the curve."""
        if not self._inside(row):
            return None
        # From the right: after a pause the same count occurs twice, and this row arrived at its
        # end.
        i = bisect_right(self._rows, row) - 1
        return self._t[i] if self._rows[i] == row else self._between(i, row)

    def _reached(self, rows: float) -> float | None:
        """Return when the count first reached ``rows``, before a pause that follows."""
        if not self._inside(rows):
            return None
        # From the left: the last row of a piece arrived at the beginning of the pause.
        i = bisect_left(self._rows, rows)
        return self._t[i] if self._rows[i] == rows else self._between(i - 1, rows)

    def _inside(self, row: float) -> bool:
        return bool(self._rows) and self._rows[0] <= row <= self._rows[-1]

    def _between(self, i: int, row: float) -> float:
        share = (row - self._rows[i]) / (self._rows[i + 1] - self._rows[i])
        return self._t[i] + share * (self._t[i + 1] - self._t[i])

    def latencies(self, first_row: float, end_row: float, commit_s: float) -> list[Spread]:
        """Return the latencies of rows committed at ``commit_s``, one spread per curve piece."""
        knots = [row for row in self._rows if first_row < row < end_row]
        edges = [first_row, *knots, end_row]
        spreads: list[Spread] = []
        for low, high in itertools.pairwise(edges):
            early, late = self.time_of(low), self._reached(high)
            if early is not None and late is not None and high > low:
                spreads.append(
                    Spread(
                        low_s=max(0.0, commit_s - late),
                        # Broker and driver clocks differ: a row committed before it arrived has
                        # latency 0.
                        high_s=max(0.0, commit_s - early),
                        rows=high - low,
                    )
                )
        return spreads

    def waits(self, rows: float, now: float) -> Wait | None:
        """Return how long the newest ``rows`` rows have waited; None if the curve begins later."""
        if rows <= 0:
            return Wait(0.0, 0.0)
        if not self._rows or rows > self._rows[-1] - self._rows[0]:
            return None
        spreads = self.latencies(self._rows[-1] - rows, self._rows[-1], now)
        mean = mean_s(spreads)
        return None if mean is None else Wait(spreads[0].high_s, mean)


def mean_s(spreads: Sequence[Spread]) -> float | None:
    """Return the mean latency over rows; None without rows."""
    rows = sum(spread.rows for spread in spreads)
    if rows == 0:
        return None
    return sum((spread.low_s + spread.high_s) / 2 * spread.rows for spread in spreads) / rows
