"""Surges: rises of the rate before requested executors help, estimated from past rises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rheostat.signals.forecasts.rate_history import FINE_S, MINUTE_S, Floats, Rates

_RARE = 0.002
"""Share of similar past moments that were followed by a larger rise than the worst surge."""

_LIKE = 0.3
"""Moments are similar if the logarithms of rate and change differ by less."""

_FEW, _NEAREST = 40, 0.35
"""With fewer similar moments than this, the most similar third of all moments is taken."""

_RISE_STEPS = 3
"""Means of five seconds over which the present rise is measured."""

_UNKNOWN_SHARE = 0.01
"""Assumed probability of a rise without precedent."""


@dataclass(frozen=True, slots=True)
class Surge:
    """A possible rise: its highest rate, the part that comes at once, and its probability."""

    rate: float
    once: float
    share: float
    """Probability within the time for which surges were estimated."""

    def path(self, now: float, until_s: float) -> list[tuple[float, float]]:
        """Return (seconds from now, rate) of a surge that begins now."""
        first = min(self.rate, now + self.once)
        lasts_s = FINE_S * (self.rate - first) / max(self.once, 1e-9)
        if lasts_s >= until_s:
            return [(0.0, first), (until_s, first + (self.rate - first) * until_s / lasts_s)]
        ramp = [(lasts_s, self.rate)] if lasts_s > 0 else []
        return [(0.0, first), *ramp, (until_s, self.rate)]


@dataclass(frozen=True, slots=True)
class Surges:
    """Rises that followed similar past moments, as rows of (rate reached, largest single step)."""

    fine: Floats
    minutes: Floats
    often: float
    """Share of the rises by minutes that fall within the time for which surges were estimated."""

    worst: Surge
    """Exceeded once in 500 times; the configured peak rate if that is higher."""

    unprecedented: Surge
    """A rise without precedent, smaller the longer the load has been observed."""

    continued_rate: float
    """The rate if the rise of the last 15 s continues for that time."""

    def above(self, limit: float) -> Surge | None:
        """Return the mean surge above a rate and its probability; None where none was recorded."""
        largest = None
        for reached, often in ((self.fine, 1.0), (self.minutes, self.often)):
            over = reached[:, reached[0] > limit] if reached.size else reached
            if over.size:
                share = often * over.shape[1] / reached.shape[1]
                rate, once = over.mean(axis=1).tolist()
                mean = Surge(rate, once, share)
                if largest is None or share * (rate - limit) > largest.share * (
                    largest.rate - limit
                ):
                    largest = mean
        return largest


def surges(
    rates: Rates, within_s: float, *, expected: float = 0.0, announced: float = 0.0
) -> Surges:
    """Return what the rate may reach within ``within_s``, by the largest rises at similar rates.

    ``announced`` is a configured peak rate; ``expected`` is the rate for which the job was sized at
    first, which counts while the history is short. Rates are in rows/s.
    """
    minutes = max(1, round(within_s / MINUTE_S))
    highest = max(
        rates.now, *(float(series.max()) for series in (rates.fine, rates.minutes) if len(series))
    )
    rise = rates.unknown * max(rates.now, expected - rates.now)
    often = min(1.0, within_s / (minutes * MINUTE_S))
    by_fine = _reached(rates.fine, max(1, math.ceil(within_s / FINE_S)), rates.now, highest)
    by_minutes = _reached(rates.minutes, minutes, rates.now, highest)
    return Surges(
        fine=by_fine,
        minutes=by_minutes,
        often=often,
        worst=_worst(rates.now, announced, ((by_fine, 1.0), (by_minutes, often))),
        unprecedented=Surge(rates.now + rise, rise, _UNKNOWN_SHARE),
        continued_rate=_continued_rate(rates, within_s),
    )


def _continued_rate(rates: Rates, within_s: float) -> float:
    if len(rates.fine) <= _RISE_STEPS:
        return rates.now
    rise = max(0.0, float(rates.now - rates.fine[-1 - _RISE_STEPS]))
    return rates.now + rise / _RISE_STEPS * within_s / FINE_S


def _worst(now: float, announced: float, resolutions: Sequence[tuple[Floats, float]]) -> Surge:
    rate, once = max(now, announced), max(0.0, announced - now)
    for reached, often in resolutions:
        if reached.size:
            place = math.ceil((reached.shape[1] + 1) * (1 - _RARE / often)) - 1
            at = np.argsort(reached[0])[min(max(place, 0), reached.shape[1] - 1)]
            if reached[0, at] > rate:
                rate, once = reached[:, at].tolist()
    return Surge(rate, once, _RARE)


def _reached(series: Floats, steps: int, now: float, highest: float) -> Floats:
    if len(series) <= steps + 1:
        return np.zeros((2, 0))
    count = len(series) - steps
    alike = _alike(series, steps, now)[:count]
    ahead, before = _highest(series[1:], steps)[alike], series[:count][alike]
    reached = np.minimum(now + np.maximum(ahead - before, 0.0), highest)
    largest = _highest(np.diff(series), steps)[alike]
    return np.array([reached, np.maximum(largest, 0.0)])


def _highest(series: Floats, steps: int) -> Floats:
    """Return the maximum of each ``steps`` consecutive values."""
    count = len(series) - steps + 1
    highest = series[:count]
    for begin in range(1, steps):  # a few times faster than the windows of numpy
        highest = np.maximum(highest, series[begin : begin + count])
    return highest


def _alike(series: Floats, steps: int, now: float) -> NDArray[np.bool_]:
    """Return which past moments are similar to the present in the rate and its change."""
    levels = np.log(np.maximum(series, 1e-9))
    changes = levels - np.concatenate((levels[:1].repeat(steps), levels[:-steps]))
    away = np.maximum(np.abs(levels - math.log(max(now, 1e-9))), np.abs(changes - changes[-1]))[:-1]
    is_alike: NDArray[np.bool_] = away < _LIKE
    if int(is_alike.sum()) < _FEW:
        nearest = min(len(away) - 1, max(10, int(_NEAREST * len(away))))
        is_alike = away <= max(_LIKE, float(np.partition(away, nearest)[nearest]))
    return is_alike
