"""Bursts: a rate with two levels, that of a two-state Markov-modulated Poisson process."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from rheostat_lab.loads.counter import uniform
from rheostat_lab.loads.value_checks import above, at_least

_LANE = 107
_FIRST = 256


@dataclass(frozen=True, slots=True)
class Bursts:
    """``quiet`` rows per second for an exponential time of mean ``quiet_s``, then ``burst`` for one
    of mean ``burst_s``, and so on.

    It begins quiet. The long-term mean rate is (quiet x quiet_s + burst x burst_s) / (quiet_s +
    burst_s). This is the rate of the process; the plant that counts rows adds its Poisson noise, a
    share of 1 / sqrt(rows) of a batch.

    Source: Fischer and Meier-Hellstern, "The Markov-modulated Poisson process (MMPP) cookbook"
    (Performance Evaluation 18, 1993).
    """

    quiet: float = field(default=500.0, metadata={"help": "rate between bursts", "unit": "rows/s"})
    burst: float = field(default=2000.0, metadata={"help": "rate in a burst", "unit": "rows/s"})
    quiet_s: float = field(
        default=600.0, metadata={"help": "mean time between bursts", "unit": "s"}
    )
    burst_s: float = field(default=120.0, metadata={"help": "mean length of a burst", "unit": "s"})
    seed: int = field(default=7, metadata={"help": "seed of the times", "unit": "1"})

    def __post_init__(self) -> None:
        at_least(0, quiet=self.quiet, burst=self.burst)
        above(0, quiet_s=self.quiet_s, burst_s=self.burst_s)

    @property
    def duration_s(self) -> None:
        """None, because the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate of the state at ``t_s``; before the start the state is quiet."""
        # After an odd number of changes the state is a burst, after an even number it is quiet.
        changes = bisect_right(_changes_until(self.quiet_s, self.burst_s, self.seed, t_s), t_s)
        return self.burst if changes % 2 else self.quiet


def _changes_until(quiet_s: float, burst_s: float, seed: int, t_s: float) -> tuple[float, ...]:
    length = _FIRST
    while (changes_s := _changes(quiet_s, burst_s, seed, length))[-1] <= t_s:
        # A longer sequence begins with the shorter one, because each draw depends only on its
        # number.
        length *= 2
    return changes_s


@lru_cache(maxsize=64)
def _changes(quiet_s: float, burst_s: float, seed: int, length: int) -> tuple[float, ...]:
    """Return the times of the first changes of state in order; ``length`` is even."""
    means_s = np.tile([quiet_s, burst_s], length // 2)
    # The inverse of the exponential distribution; log1p, so that a draw of 0 gives 0 seconds.
    lasts_s = -np.log1p(-uniform(seed, _LANE, np.arange(length))) * means_s
    return tuple(np.cumsum(lasts_s).tolist())
