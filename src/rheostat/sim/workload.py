"""The protocol of a workload, an arrival rate over time, and the rates of a recorded run."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Protocol

from rheostat.errors import BadInput


class Workload(Protocol):
    """An arrival rate over time; frozen, and a pure function of its parameters and of time."""

    @property
    def duration_s(self) -> float | None:
        """Seconds after which the profile ends or repeats; None if it never ends."""

    def rate_per_s(self, t_s: float) -> float:
        """Return the rows per second at ``t_s`` seconds from the start, never negative."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant rate of ``rate`` rows per second."""

    rate: float = field(default=1000.0, metadata={"help": "arrival rate", "unit": "rows/s"})

    def __post_init__(self) -> None:
        if not 0 <= self.rate < math.inf:
            raise BadInput(f"rate must be a number of at least 0, but it is {self.rate}")

    @property
    def duration_s(self) -> None:
        """None, because the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate."""
        return self.rate


@dataclass(frozen=True, slots=True)
class RecordedLoad:
    """Recorded rates in rows/s at rising times, each held until the next sample (the last one as
    long as its predecessor); ``waiting_rows`` more arrive in the first second.
    """

    times_s: tuple[float, ...]
    rates: tuple[float, ...]
    waiting_rows: float = 0.0

    @property
    def duration_s(self) -> float:
        """Seconds until the end of the last sample."""
        return 2 * self.times_s[-1] - self.times_s[-2] - self.times_s[0]

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate at ``t_s``; 0 outside the recording."""
        waiting = self.waiting_rows if t_s < 1 else 0.0
        if not 0 <= t_s < self.duration_s:
            return waiting
        sample = bisect_right(self.times_s, self.times_s[0] + t_s) - 1
        return self.rates[sample] + waiting
