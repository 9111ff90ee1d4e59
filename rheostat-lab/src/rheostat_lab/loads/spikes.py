"""Spikes of random height and length, which form ESPA's spiking profile on another load."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from rheostat.errors import BadInput
from rheostat_lab.loads.counter import uniform
from rheostat_lab.loads.prefix import length_for
from rheostat_lab.loads.value_checks import above, at_least

_START, _LENGTH, _HEIGHT = 104, 105, 106


@dataclass(frozen=True, slots=True)
class Spikes:
    """Zero rows, except that in each step of ``hold_s`` seconds without a spike, one begins with
    probability ``chance``.

    A spike lasts 1 to ``longest`` steps, each with its own height U(low, high). The draws of step i
    are a function of (seed, i). Defaults: ESPA's spikes of query 1 (half to all of the cosine's
    amplitude, at most 3 minutes), one in 20 minutes.

    Source: delftdata/espa-autoscaling, SpikingLoadPattern.
    """

    low: float = field(default=50_000.0, metadata={"help": "least height", "unit": "rows/s"})
    high: float = field(default=100_000.0, metadata={"help": "greatest height", "unit": "rows/s"})
    chance: float = field(
        default=0.05, metadata={"help": "probability that a spike begins in a step", "unit": "1"}
    )
    longest: int = field(default=3, metadata={"help": "most steps a spike lasts", "unit": "1"})
    hold_s: float = field(default=60.0, metadata={"help": "length of a step", "unit": "s"})
    seed: int = field(default=7, metadata={"help": "seed of the spikes", "unit": "1"})

    def __post_init__(self) -> None:
        at_least(0, low=self.low, chance=self.chance)
        at_least(self.low, high=self.high)
        at_least(1, longest=self.longest)
        above(0, hold_s=self.hold_s)
        if self.chance > 1:
            raise BadInput(
                f"chance is a probability and must be between 0 and 1, but it is {self.chance}"
            )

    @property
    def duration_s(self) -> None:
        """None, because the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the height of the spike at ``t_s``; 0 without a spike."""
        i = math.floor(t_s / self.hold_s)
        return 0.0 if i < 0 else _heights(self, length_for(i))[i]


@lru_cache(maxsize=64)
def _heights(spikes: Spikes, length: int) -> tuple[float, ...]:
    steps = np.arange(length)
    begins = (uniform(spikes.seed, _START, steps) < spikes.chance).tolist()
    lasts = (1 + spikes.longest * uniform(spikes.seed, _LENGTH, steps)).astype(int).tolist()
    drawn = (
        spikes.low + (spikes.high - spikes.low) * uniform(spikes.seed, _HEIGHT, steps)
    ).tolist()
    heights, left = [], 0
    for i in range(length):
        # No spike begins during another one, so that spikes never overlap, as in ESPA.
        left = left - 1 if left else (lasts[i] if begins[i] else 0)
        heights.append(drawn[i] if left else 0.0)
    return tuple(heights)
