"""How much a rate may rise before executors that are asked for help: what it did in the past."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rheostat.signals.forecast_history import FINE_S, MINUTE_S, Floats, Rates

LEVELS = (0.97, 0.99, 0.998)
"""Of the moments of the past: so many were followed by a smaller rise."""

SHARES = (0.07, 0.02, 0.01)
"""How often each of them is to be feared: from the level below it (the first: 0.9) to its own, and
above the last."""

_LIKE = 0.3
"""Rates whose logarithms differ by less are alike."""

_FEW = 40
"""Fewer moments that are alike say nothing; then all of them are taken."""

_UNKNOWN_S = 600.0
"""A load that has been watched for so long may rise by half of itself as never before."""


def may_reach(rates: Rates, within_s: float) -> list[tuple[float, float]]:
    """Return (rate, share): what the rate may reach within so many seconds, and how often.

    Conformal: quantiles of the largest rise within that time, over the moments of the last hour and
    of the last day at which the rate was like now. What was never reached is not expected.
    """
    steps = max(1, math.ceil(within_s / FINE_S))
    minutes = max(1, round(within_s / MINUTE_S))
    longer = minutes * MINUTE_S / min(within_s, minutes * MINUTE_S)
    found = np.maximum(
        _quantiles(_rises(rates.fine, steps), rates.now, LEVELS),
        _quantiles(
            _rises(rates.minutes, minutes),
            rates.now,
            [1 - (1 - level) * longer for level in LEVELS],
        ),
    )
    highest = max(
        rates.now, *(float(each.max()) for each in (rates.fine, rates.minutes) if len(each))
    )
    reached = [max(min(rates.now + rise, highest), rates.now) for rise in found.tolist()]
    return _merged(list(zip(reached, SHARES, strict=True)))


def never_seen(rates: Rates) -> float:
    """Return what the rate may reach as never before: the longer the load is watched, the less of
    the rate of now it lies above it.
    """
    return rates.now * (1 + _UNKNOWN_S / (_UNKNOWN_S + rates.watched_s))


def _rises(series: Floats, steps: int) -> tuple[Floats, Floats]:
    """Return the rates of the past, and how much they rose at most within so many steps."""
    if len(series) <= steps + 1:
        return np.zeros(0), np.zeros(0)
    ahead = np.lib.stride_tricks.sliding_window_view(series[1:], steps).max(axis=1)
    levels = series[: len(ahead)]
    return levels, ahead - levels


def _quantiles(seen: tuple[Floats, Floats], now: float, levels: Sequence[float]) -> Floats:
    rates, rises = seen
    alike = rises[np.abs(np.log((rates + 1e-9) / (now + 1e-9))) < _LIKE]
    if len(alike) < _FEW:
        alike = rises
    if not len(alike):
        return np.zeros(len(levels))
    ordered, count = np.sort(alike), len(alike)
    places = [min(count - 1, max(0, math.ceil((count + 1) * level) - 1)) for level in levels]
    found: Floats = np.maximum(ordered[places], 0.0)
    return found


def _merged(reached: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the same with rates that are nearly one taken as one, the higher."""
    found: list[tuple[float, float]] = []
    for rate, share in reached:
        if found and rate <= 1.02 * found[-1][0]:
            share += found.pop()[1]
        found.append((rate, share))
    return found
