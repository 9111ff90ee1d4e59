"""Detection of the period of a load, by autocorrelation."""

from __future__ import annotations

import numpy as np

from rheostat.signals.forecasts.rate_history import FINE_S, MINUTE_S, Floats, Rates
from rheostat.tuning import TUNING, Tuning


def period_s(rates: Rates) -> float | None:
    """Return the period of the recorded rates in seconds; None if there is no clear one."""
    for series, step_s in ((rates.fine, FINE_S), (rates.minutes, MINUTE_S)):
        if (steps := period(series, rates.tuning)) is not None:
            return steps * step_s
    return None


def period(series: Floats, tuning: Tuning = TUNING) -> int | None:
    """Return the period of a series in steps, at most half its length; None if there is none.

    It is the shortest shift with a clear peak of the correlation; longer ones are its multiples.
    """
    shortest = tuning.trend_steps
    if len(series) < 2 * shortest + 1:
        return None
    alike = _correlations(series)
    inside = alike[1:-1]
    peaks = 1 + np.flatnonzero((inside >= alike[:-2]) & (inside >= alike[2:]))
    lowest = np.minimum.accumulate(alike)
    clear = (
        int(peak)
        for peak in peaks
        if peak >= shortest
        and alike[peak] >= max(tuning.period_correlation, lowest[peak] + tuning.period_drop)
    )
    return next(clear, None)


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
