"""The arrival rates of the last week in a few thousand numbers: the newer, the finer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
FINE_S, MINUTE_S, COARSE_S = 5.0, 60.0, 900.0
RINGS: Mapping[str, tuple[float, int]] = {
    "fine": (FINE_S, 720),
    "minutes": (MINUTE_S, 1440),
    "quarters": (COARSE_S, 768),
}
"""By name the seconds of a mean and how many are kept: an hour, a day, eight days."""

SEASONS_S = (3600.0, 86_400.0, 604_800.0)

_UNKNOWN_S = 600.0
"""After so long half of what a load can do is taken to have been seen."""


def with_rate(history: Mapping[str, Any], t_s: float, rate_per_s: float) -> dict[str, Any]:
    """Return the history with the mean rate since its last time; a long gap empties it."""
    since_s = history.get("t_s", t_s)
    kept = {
        name: _grown(history.get(name), size_s, most, since_s, t_s, rate_per_s)
        for name, (size_s, most) in RINGS.items()
    }
    return {**kept, "t_s": t_s, "rate": rate_per_s}


class Rates:
    """A history as arrays, for one look at it; ``period_s`` is that of the load, where known."""

    def __init__(self, history: Mapping[str, Any], period_s: float | None = None) -> None:
        self.repeats(period_s)
        self.now: float = history["rate"]
        self._rings = [
            _aged(history[name], RINGS[name][0]) for name in ("quarters", "minutes", "fine")
        ]
        self.fine = np.append(self._rings[2][1], self.now)
        """The means of five seconds of the last hour, oldest first; the last is the rate of
        now."""
        self.minutes = _minutes(self.fine, self._rings[1][1])
        """The means of a minute of the last day; those of the last hour end now, not at a full
        minute."""
        self.oldest_s: float = max(
            (float(ages_s[0]) for ages_s, _ in self._rings[:2] if len(ages_s)), default=0.0
        )
        """How long ago the oldest rate of a minute was."""
        self.watched_s: float = max(self.oldest_s, FINE_S * len(self.fine))

    @property
    def unknown(self) -> float:
        """The share of what the load can do that was not seen yet: 1 at first, then falling."""
        return _UNKNOWN_S / (_UNKNOWN_S + self.watched_s)

    def repeats(self, period_s: float | None) -> None:
        """Take the load for one that repeats itself after so many seconds; None: it does not."""
        self.seasons_s = (*SEASONS_S, period_s or math.inf)
        """Hour, day and week, and the period of the load: infinite where there is none."""

    def before(self, ages_s: Floats, *, fine: bool = False) -> Floats:
        """Return the rates at these ages; by 5 s in the last hour if ``fine``; NaN if unknown."""
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


def _aged(ring: Mapping[str, Any], size_s: float) -> tuple[Floats, Floats]:
    """Return the ages of the middles of a ring's means, and the means."""
    means = np.array(ring["means"])
    return ring["part_s"] + size_s * (np.arange(len(means), 0, -1) - 0.5), means


def _grown(
    ring: Mapping[str, Any] | None,
    size_s: float,
    most: int,
    since_s: float,
    t_s: float,
    rate_per_s: float,
) -> Mapping[str, Any]:
    """Return a ring extended by a rate that held from ``since_s`` to ``t_s``."""
    if ring is None or not 0 <= t_s - since_s < most * size_s:
        return {"means": [], "part_s": 0.0, "part_rows": 0.0}
    lasts_s = t_s - since_s
    part_s, part_rows = ring["part_s"] + lasts_s, ring["part_rows"] + lasts_s * rate_per_s
    if part_s < size_s:
        return {"means": ring["means"], "part_s": part_s, "part_rows": part_rows}
    first = (part_rows - (part_s - size_s) * rate_per_s) / size_s
    complete = math.floor(part_s / size_s)
    means: Sequence[float] = [_short(first), *[_short(rate_per_s)] * (complete - 1)]
    left_s = part_s - complete * size_s
    return {
        "means": [*ring["means"], *means][-most:],
        "part_s": left_s,
        "part_rows": left_s * rate_per_s,
    }


def _short(rate_per_s: float) -> float:
    """Return the rate with five digits: it is kept in a journal thousands of times."""
    return float(f"{rate_per_s:.5g}")
