"""Shares and quantiles of row latencies, from spreads."""

from __future__ import annotations

from collections.abc import Sequence

from rheostat.signals.latency import Spread


def share_within(spreads: Sequence[Spread], latency_s: float) -> float | None:
    """Return the share of rows with at most ``latency_s`` of latency; None without rows."""
    rows = sum(spread.rows for spread in spreads)
    if rows == 0:
        return None
    return sum(spread.rows * _covered(spread, latency_s) for spread in spreads) / rows


def quantile_s(spreads: Sequence[Spread], q: float) -> float | None:
    """Return the latency that a share ``q`` of the rows stays within; None without rows."""
    if not spreads:
        return None
    low, high = 0.0, max(spread.high_s for spread in spreads)
    # The share is monotone in the latency, so bisection finds the quantile of the mixture.
    while high - low > 0.001:
        middle = (low + high) / 2
        within = share_within(spreads, middle)
        if within is not None and within >= q:
            high = middle
        else:
            low = middle
    return high


def _covered(spread: Spread, latency_s: float) -> float:
    if latency_s >= spread.high_s:
        return 1.0
    if latency_s <= spread.low_s:
        return 0.0
    return (latency_s - spread.low_s) / (spread.high_s - spread.low_s)
