"""Detection of the period of a load, by autocorrelation."""

from __future__ import annotations

import numpy as np

from rheostat.signals.forecasts.rate_history import FINE_S, MINUTE_S, Floats, Rates

_SHORTEST = 12
"""Shortest period, in steps: a shorter one would rest on too few means."""

_CLEAR = 0.7
"""Least autocorrelation at the period; noise and random walks hardly reach it."""

_FALLS = 0.5
"""Least drop of the correlation at shorter shifts: a slow drift correlates at every shift."""

_AS_GOOD = 0.9
"""The shortest period with this share of the best correlation is taken, not its multiples."""


def period_s(rates: Rates) -> float | None:
    """Return the period of the recorded rates in seconds; None if there is no clear one."""
    for series, step_s in ((rates.fine, FINE_S), (rates.minutes, MINUTE_S)):
        if (steps := period(series)) is not None:
            return steps * step_s
    return None


def period(series: Floats) -> int | None:
    """Return the period of a series in steps, at most half its length; None if there is none."""
    if len(series) < 2 * _SHORTEST + 1:
        return None
    alike = _correlations(series)
    inside = alike[1:-1]
    peaks = 1 + np.flatnonzero((inside >= alike[:-2]) & (inside >= alike[2:]))
    lowest = np.minimum.accumulate(alike)
    clear = [
        int(peak)
        for peak in peaks
        if peak >= _SHORTEST and alike[peak] >= max(_CLEAR, lowest[peak] + _FALLS)
    ]
    if not clear:
        return None
    best = max(float(alike[shift]) for shift in clear)
    return min(shift for shift in clear if alike[shift] >= _AS_GOOD * best)


def _correlations(series: Floats) -> Floats:
    """Return the autocorrelation by shift, up to half the length plus one, by an FFT."""
    n, most = len(series), len(series) // 2 + 2
    apart = series - series.mean()
    waves = np.fft.rfft(apart, 2 * n)
    products = np.fft.irfft(waves * np.conj(waves), 2 * n)[:most]
    sums = np.concatenate(([0.0], np.cumsum(apart)))
    squares = np.concatenate(([0.0], np.cumsum(apart * apart)))
    shifts = np.arange(most)
    count = n - shifts
    first, last = sums[n - shifts], sums[n] - sums[shifts]
    shared = products - first * last / count
    spread = (squares[n - shifts] - first**2 / count) * (
        squares[n] - squares[shifts] - last**2 / count
    )
    floor = 1e-12 * max(float(squares[n]), 1e-12) ** 2
    correlations: Floats = shared / np.sqrt(np.maximum(spread, floor))
    return correlations
