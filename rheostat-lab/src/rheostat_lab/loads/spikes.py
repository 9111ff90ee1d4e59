"""Spikes of a random height and length; added to another load (``text.parse``) they are ESPA's
spiking profile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from rheostat.errors import BadInput
from rheostat.workloads.workload import above, at_least
from rheostat_lab.loads.counter import uniform
from rheostat_lab.loads.prefix import length_for

_START, _LENGTH, _HEIGHT = 104, 105, 106


@dataclass(frozen=True, slots=True)
class Spikes:
    """Nothing, but in each step of ``hold_s`` seconds a spike begins with probability ``chance``,
    if none lasts.

    It lasts 1 to ``longest`` steps, each of a height U(low, high) of its own. What step i draws is
    a function of (seed, i). Defaults: ESPA's spikes of query 1 (half the cosine's amplitude to the
    whole, at most 3 minutes), one in 20 minutes.

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
        """None: the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the height of the spike at ``t_s``; 0 where there is none."""
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
        # A spike that lasts ignores beginnings: spikes never overlap, as in ESPA.
        left = left - 1 if left else (lasts[i] if begins[i] else 0)
        heights.append(drawn[i] if left else 0.0)
    return tuple(heights)
