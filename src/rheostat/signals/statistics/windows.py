"""Windows over samples ``(t_s, value)``, oldest first, with PromQL's semantics.

``mean`` is PromQL's ``avg_over_time``; ``deriv``, ``rate`` and ``max_over_time`` have the same
names. A window is closed at both ends (t - w <= s <= t) as in Prometheus up to 2.x, which the
source documents used; Prometheus 3 excludes its old end. Verified against Prometheus 2.42
(``scripts/promql_answers.py``).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import mul
from typing import Any, TypeAlias

Column: TypeAlias = Sequence[float | None]
Columns: TypeAlias = Mapping[str, Sequence[Column]]
"""The columns of each name, each as long as the list of times; an absent value is None."""


def extended(
    times: Sequence[float],
    columns: Columns,
    now: float,
    row: Mapping[str, Sequence[float | None]],
    window_s: float,
) -> tuple[list[float], dict[str, list[list[float | None]]]]:
    """Return times and columns with one more sample, limited to now - window_s <= t <= now.

    A new name has absent values before; a name that is not in ``row`` is dropped.
    """
    first, end = bisect_left(times, now - window_s), bisect_right(times, now)
    absent = [None] * len(times)
    grown = {
        name: [
            [*column[first:end], value]
            for column, value in zip(
                columns.get(name) or [absent] * len(values), values, strict=True
            )
        ]
        for name, values in row.items()
    }
    return [*times[first:end], now], grown


Samples: TypeAlias = Sequence[tuple[float, float]]


def within(samples: Samples, now: float, window_s: float) -> list[tuple[float, float]]:
    """Return the samples of the last ``window_s`` seconds, including ``now``."""
    return [(t, value) for t, value in samples if now - window_s <= t <= now]


def mean(samples: Samples) -> float | None:
    """Return the unweighted mean of the values (PromQL ``avg_over_time``); None without samples."""
    return sum(value for _, value in samples) / len(samples) if samples else None


def max_over_time(samples: Samples) -> float | None:
    """Return the largest value (PromQL ``max_over_time``); None without samples."""
    return max((value for _, value in samples), default=None)


def rate(samples: Samples, now: float, window_s: float) -> float | None:
    """Return PromQL's ``rate`` of a counter over the window; None without two distinct times.

    A falling value is a reset. The growth is extrapolated to an edge of the window that is within
    1.1 mean distances of a sample, otherwise by half a mean distance, and never below 0.
    """
    inside = within(samples, now, window_s)
    if len(inside) < 2 or inside[-1][0] <= inside[0][0]:
        return None
    grown = sum(
        # A counter that falls restarted at 0, so its complete value is growth (PromQL's reset).
        late - early if late >= early else late
        for (_, early), (_, late) in pairwise(inside)
    )
    covered_s = inside[-1][0] - inside[0][0]
    step_s = covered_s / (len(inside) - 1)
    before_s, after_s = inside[0][0] - (now - window_s), now - inside[-1][0]
    if grown > 0 and inside[0][1] >= 0:  # a counter starts at 0: no growth before
        before_s = min(before_s, covered_s * inside[0][1] / grown)
    extended_s = covered_s + sum(
        # Prometheus' extrapolatedRate, with its threshold of 1.1 times the mean distance.
        gap_s if gap_s < 1.1 * step_s else step_s / 2
        for gap_s in (before_s, after_s)
    )
    return grown * extended_s / covered_s / window_s


def deriv(samples: Samples) -> float | None:
    """Return the least-squares slope per second (PromQL ``deriv``); None without two times."""
    times, values = [t for t, _ in samples], [value for _, value in samples]
    return slopes(times, [values])[0]


def slopes(times: Sequence[float], columns: Iterable[Sequence[float | None]]) -> list[float | None]:
    """Return the least-squares slope per second of each column, without its absent values."""
    # Relative to the first sample: near 0, the mean and the distances keep their precision.
    origin = times[0] if times else 0.0
    passed = [t - origin for t in times]
    middle = sum(passed) / len(passed) if passed else 0.0
    deviations = [s - middle for s in passed]
    spread = sum(map(mul, deviations, deviations))
    return [
        _of_some(times, column) if None in column else _of_all(deviations, column, spread)
        for column in columns
    ]


def _of_some(times: Sequence[float], column: Sequence[float | None]) -> float | None:
    return deriv([(t, value) for t, value in zip(times, column, strict=True) if value is not None])


def _of_all(deviations: Sequence[float], column: Sequence[Any], spread: float) -> float | None:
    if not spread:
        return None
    # Rounding would leave a slope of 1e-17 here, and policies compare slopes with 0.
    if column.count(column[0]) == len(column):
        return 0.0
    return float(sum(map(mul, deviations, column))) / spread


def growth_per_s(samples: Samples) -> float | None:
    """Return the mean growth per second of a counter; None without two times or after a reset."""
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        return None
    gained = samples[-1][1] - samples[0][1]
    return gained / (samples[-1][0] - samples[0][0]) if gained >= 0 else None


def at_most_quantile(values: Sequence[float], q: float) -> float:
    """Return the value at or below the quantile ``q`` (0..1; numpy's ``lower``)."""
    return sorted(values)[math.floor(q * (len(values) - 1))]


def newest(
    rates: Samples, rows: float = math.inf, seconds: float = math.inf
) -> tuple[float, float]:
    """Return (rows, seconds) of the newest arrivals: at most ``rows``, none older than ``seconds``.

    ``rates`` are (t_s, rows per second since the previous sample), oldest first.
    """
    arrived = age_s = 0.0
    # The first rate is assumed for all time before it, so that a young window does not limit the
    # queue.
    for (since_s, _), (t_s, rate) in reversed(list(pairwise([(-math.inf, 0.0), *rates]))):
        left_s = min(
            t_s - since_s,
            seconds - age_s,
            max(0.0, rows - arrived) / rate if rate > 0 else math.inf,
        )
        # An unbounded stretch at rate 0 has no rows and is omitted.
        if left_s < math.inf:
            arrived, age_s = arrived + rate * left_s, age_s + left_s
    return min(arrived, rows), age_s


def highest(kept: Samples, now: float, value: float, window_s: float) -> list[tuple[float, float]]:
    """Return the samples to keep for the maximum of the last ``window_s`` seconds, which is the
    first.

    The window excludes its old end, like Kubernetes' recommendation window.
    """
    # An equal value is dropped too, because the newer one stays in the window for longer.
    return [*((t, v) for t, v in kept if now - window_s < t <= now and v > value), (now, value)]


def lowest(kept: Samples, now: float, value: float, window_s: float) -> list[tuple[float, float]]:
    """Return the samples to keep for the minimum of the window, which is the first."""
    return [*((t, v) for t, v in kept if now - window_s < t <= now and v < value), (now, value)]
