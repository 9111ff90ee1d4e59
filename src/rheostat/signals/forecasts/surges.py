"""Surges: rises of the rate before requested executors help, estimated from past rises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rheostat.signals.forecasts.rate_history import FINE_S, MINUTE_S, Floats, Rates
from rheostat.tuning import Tuning

Rises: TypeAlias = Sequence[tuple[Floats, float]]
"""Per resolution the rises that followed similar past moments, as rows of (rate reached, largest
single step), and the share of them that falls within the time for which surges are estimated."""


@dataclass(frozen=True, slots=True)
class Surge:
    """A possible rise: its highest rate, the part that comes at once, and its probability."""

    rate: float
    once: float
    share: float = 1.0
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
    """The rises that are possible within a time, and three surges estimated from them."""

    rises: Rises

    worst: Surge
    """Rarely exceeded (``Tuning.rare_share``); the configured peak rate if that is higher."""

    unprecedented: Surge
    """A rise without precedent, smaller the longer the load has been observed."""

    continued_rate: float
    """The rate if the rise of the last 15 s continues for that time."""

    def above(self, limit: float) -> Surge | None:
        """Return the mean surge above a rate and its probability; None where none was recorded."""
        means = []
        for reached, often in self.rises:
            if (over := reached[:, reached[0] > limit]).size:
                rate, once = over.mean(axis=1).tolist()
                means.append(Surge(rate, once, often * over.shape[1] / reached.shape[1]))
        return max(means, key=lambda mean: mean.share * (mean.rate - limit), default=None)


def surges(
    rates: Rates, within_s: float, *, expected: float = 0.0, announced: float = 0.0
) -> Surges:
    """Return what the rate may reach within ``within_s``, by the largest rises at similar rates.

    ``announced`` is a configured peak rate; ``expected`` is the rate for which the job was sized at
    first, which counts while the history is short. Rates are in rows/s.
    """
    minutes = max(1, round(within_s / MINUTE_S))
    rise = rates.unknown * max(rates.now, expected - rates.now)
    rises = (
        (_reached(rates, rates.fine, max(1, math.ceil(within_s / FINE_S))), 1.0),
        (_reached(rates, rates.minutes, minutes), min(1.0, within_s / (minutes * MINUTE_S))),
    )
    return Surges(
        rises=rises,
        worst=_worst(rates, announced, rises),
        unprecedented=Surge(rates.now + rise, rise),
        continued_rate=_continued_rate(rates, within_s),
    )


def _continued_rate(rates: Rates, within_s: float) -> float:
    steps = rates.tuning.few
    if len(rates.fine) <= steps:
        return rates.now
    rise = max(0.0, float(rates.now - rates.fine[-1 - steps]))
    return rates.now + rise / steps * within_s / FINE_S


def _worst(rates: Rates, announced: float, rises: Rises) -> Surge:
    worst = Surge(max(rates.now, announced), max(0.0, announced - rates.now))
    for reached, often in rises:
        count = reached.shape[1]
        if count:
            place = math.ceil((count + 1) * (1 - rates.tuning.rare_share / often)) - 1
            at = np.argsort(reached[0])[min(max(place, 0), count - 1)]
            if reached[0, at] > worst.rate:
                worst = Surge(*reached[:, at].tolist())
    return worst


def _reached(rates: Rates, series: Floats, steps: int) -> Floats:
    if len(series) <= steps + 1:
        return np.zeros((2, 0))
    highest = max(float(known.max()) for known in (rates.fine, rates.minutes) if len(known))
    count = len(series) - steps
    alike = _alike(series, steps, rates.now, rates.tuning)[:count]
    ahead, before = _highest(series[1:], steps)[alike], series[:count][alike]
    reached = np.minimum(rates.now + np.maximum(ahead - before, 0.0), highest)
    largest = _highest(np.diff(series), steps)[alike]
    return np.array([reached, np.maximum(largest, 0.0)])


def _highest(series: Floats, steps: int) -> Floats:
    """Return the maximum of each ``steps`` consecutive values."""
    count = len(series) - steps + 1
    highest = series[:count]
    for begin in range(1, steps):  # a few times faster than the windows of numpy
        highest = np.maximum(highest, series[begin : begin + count])
    return highest


def _alike(series: Floats, steps: int, now: float, tuning: Tuning) -> NDArray[np.bool_]:
    """Return which past moments are similar to the present in the rate and its change."""
    levels = np.log(np.maximum(series, 1e-9))
    changes = levels - np.concatenate((levels[:1].repeat(steps), levels[:-steps]))
    away = np.maximum(np.abs(levels - math.log(max(now, 1e-9))), np.abs(changes - changes[-1]))[:-1]
    is_alike: NDArray[np.bool_] = away < tuning.similar
    if int(is_alike.sum()) < tuning.half_life:
        nearest = min(len(away) - 1, max(10, int(tuning.similar_share * len(away))))
        is_alike = away <= max(tuning.similar, float(np.partition(away, nearest)[nearest]))
    return is_alike
