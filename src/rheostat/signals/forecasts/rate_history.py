"""The arrival rates of the last eight days as means, the recent ones at a finer resolution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rheostat.tuning import TUNING, Tuning

Floats: TypeAlias = NDArray[np.float64]
FINE_S, MINUTE_S, COARSE_S = 5.0, 60.0, 900.0
HOUR_S, DAY_S, WEEK_S = SEASONS_S = (3600.0, 86_400.0, 604_800.0)
"""Means of 5 s are kept for an hour, of a minute for a day, of 15 minutes for eight days."""


@dataclass(frozen=True, slots=True)
class Ring:
    """The newest means, oldest first, and the seconds and rows of the incomplete next one."""

    means: Sequence[float] = ()
    part_s: float = 0.0
    part_rows: float = 0.0


@dataclass(frozen=True, slots=True)
class RateHistory:
    """The arrival rates until ``t_s``, when the rate was ``rate``."""

    fine: Ring = field(default_factory=Ring)
    minutes: Ring = field(default_factory=Ring)
    quarters: Ring = field(default_factory=Ring)
    t_s: float | None = None
    rate: float = 0.0


def with_rate(history: RateHistory, t_s: float, rate_per_s: float) -> RateHistory:
    """Return the history extended by the mean rate since its last time; a long gap empties it."""
    since_s = t_s if history.t_s is None else history.t_s
    lasts_s = t_s - since_s
    return RateHistory(
        _grown(history.fine, FINE_S, HOUR_S, lasts_s, rate_per_s),
        _grown(history.minutes, MINUTE_S, DAY_S, lasts_s, rate_per_s),
        _grown(history.quarters, COARSE_S, WEEK_S + DAY_S, lasts_s, rate_per_s),
        t_s,
        rate_per_s,
    )


class Rates:
    """A history as arrays; ``period_s`` is the period of the load, if known."""

    def __init__(
        self, history: RateHistory, period_s: float | None = None, tuning: Tuning = TUNING
    ) -> None:
        self.tuning = tuning
        self.seasons_s = (*SEASONS_S, period_s or math.inf)
        """Hour, day, week and the period of the load (infinite without one)."""
        self.now = history.rate
        rings = ((history.quarters, COARSE_S), (history.minutes, MINUTE_S), (history.fine, FINE_S))
        self._rings = [_aged(ring, size_s) for ring, size_s in rings]
        self.fine = np.append(self._rings[2][1], self.now)
        """Means of 5 s of the last hour, oldest first, and the present rate."""
        self.minutes = _minutes(self.fine, self._rings[1][1])
        """Means of a minute of the last day; those of the last hour are aligned to the present."""
        self.oldest_s: float = max(
            (float(ages_s[0]) for ages_s, _ in self._rings[:2] if len(ages_s)), default=0.0
        )
        """Age of the oldest mean of a minute or more."""
        self.watched_s: float = max(self.oldest_s, FINE_S * len(self.fine))

    @property
    def unknown(self) -> float:
        """The share of the load's behaviour that is unknown: 1 at first, then falling."""
        return self.tuning.known_s / (self.tuning.known_s + self.watched_s)

    @property
    def is_young(self) -> bool:
        """Whether the job is in warm-up: most of its load's behaviour is unknown."""
        return self.unknown > 0.5

    def before(self, ages_s: Floats, *, fine: bool = False) -> Floats:
        """Return the rates at these ages, by 5 s in the last hour if ``fine``; NaN if unknown."""
        rates = np.full(ages_s.shape, np.nan)
        for middles_s, means in self._rings[: 3 if fine else 2]:
            if len(means):
                inside = (ages_s <= middles_s[0]) & (ages_s >= middles_s[-1])
                rates[inside] = np.interp(-ages_s[inside], -middles_s, means)
        return rates


def _minutes(fine: Floats, older: Floats) -> Floats:
    steps = round(MINUTE_S / FINE_S)
    complete = len(fine) // steps
    last = fine[len(fine) - complete * steps :].reshape(complete, steps).mean(axis=1)
    return np.concatenate((older[: max(0, len(older) - complete)], last))


def _aged(ring: Ring, size_s: float) -> tuple[Floats, Floats]:
    """Return the ages of the centres of a ring's means, and the means."""
    means = np.array(ring.means, dtype=np.float64)
    ages_s: Floats = ring.part_s + size_s * (np.arange(len(means), 0, -1, dtype=np.float64) - 0.5)
    return ages_s, means


def _grown(ring: Ring, size_s: float, kept_s: float, lasts_s: float, rate_per_s: float) -> Ring:
    """Return a ring extended by a rate that held for ``lasts_s``."""
    if not 0 <= lasts_s < kept_s:
        return Ring()
    part_s, part_rows = ring.part_s + lasts_s, ring.part_rows + lasts_s * rate_per_s
    if part_s < size_s:
        return Ring(ring.means, part_s, part_rows)
    first = (part_rows - (part_s - size_s) * rate_per_s) / size_s
    complete = math.floor(part_s / size_s)
    means = [*ring.means, _short(first), *[_short(rate_per_s)] * (complete - 1)]
    means = means[-round(kept_s / size_s) :]
    left_s = part_s - complete * size_s
    return Ring(means, left_s, left_s * rate_per_s)


def _short(rate_per_s: float) -> float:
    """Return the rate with five digits, because a journal stores it thousands of times."""
    return float(f"{rate_per_s:.5g}")
