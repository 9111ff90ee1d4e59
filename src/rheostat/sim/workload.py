"""The protocol of a workload, an arrival rate over time, and the rates of a recorded run."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Protocol

from rheostat.errors import BadInput


def at_least(limit: float, **values: float) -> None:
    """Raise BadInput for the first value that is below ``limit`` or not a finite number."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= limit):
            raise BadInput(f"{name} must be a number of at least {limit:g}, but it is {value}")


def above(limit: float, **values: float) -> None:
    """Raise BadInput for the first value that is not above ``limit`` or not a finite number."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > limit):
            raise BadInput(f"{name} must be a number above {limit:g}, but it is {value}")


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
        at_least(0, rate=self.rate)

    @property
    def duration_s(self) -> None:
        """None, because the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate."""
        return self.rate


@dataclass(frozen=True, slots=True)
class Steps:
    """One level after the other for ``hold_s`` seconds each; the last one continues."""

    levels: tuple[float, ...] = field(
        default=(500.0, 2000.0, 500.0), metadata={"help": "rates, in their order", "unit": "rows/s"}
    )
    hold_s: float = field(default=60.0, metadata={"help": "time at each level", "unit": "s"})

    def __post_init__(self) -> None:
        if not self.levels:
            raise BadInput(
                "levels must hold at least one rate, such as 500,2000,500, but it is empty"
            )
        at_least(0, **{f"levels[{i}]": level for i, level in enumerate(self.levels)})
        above(0, hold_s=self.hold_s)

    @property
    def duration_s(self) -> float:
        """Seconds until the end of the last level."""
        return self.hold_s * len(self.levels)

    def rate_per_s(self, t_s: float) -> float:
        """Return the level at ``t_s``."""
        step = int(max(0.0, t_s) / self.hold_s)
        return self.levels[min(step, len(self.levels) - 1)]


@dataclass(frozen=True, slots=True)
class Trace:
    """Recorded rates in rows/s, each held until the next sample (the last one as long as its
    predecessor).

    ``time_scale`` 0.5 plays at double speed, ``rate_scale`` 0.5 halves the rates. Raises BadInput
    for fewer than two samples, times that do not increase, and negative rates.
    """

    times_s: tuple[float, ...] = field(
        default=(), metadata={"help": "times of the samples", "unit": "s"}
    )
    rates: tuple[float, ...] = field(
        default=(), metadata={"help": "rates of the samples", "unit": "rows/s"}
    )
    time_scale: float = field(
        default=1.0, metadata={"help": "stretches time by this factor", "unit": "1"}
    )
    rate_scale: float = field(default=1.0, metadata={"help": "multiplies the rates", "unit": "1"})

    def __post_init__(self) -> None:
        if len(self.times_s) != len(self.rates) or len(self.times_s) < 2:
            sizes = f"{len(self.times_s)} times and {len(self.rates)} rates"
            raise BadInput(
                f"a trace needs two samples or more, a rate for each time, but it has {sizes}"
            )
        for i, (early, late) in enumerate(zip(self.times_s, self.times_s[1:], strict=False), 1):
            if not late > early:
                raise BadInput(
                    f"the times of a trace must rise, but times_s[{i}] is {late} after {early}"
                )
        at_least(
            0,
            rate_scale=self.rate_scale,
            **{f"rates[{i}]": rate for i, rate in enumerate(self.rates)},
        )
        above(0, time_scale=self.time_scale)

    @property
    def duration_s(self) -> float:
        """Seconds until the end of the last sample, scaled."""
        # The last sample has no successor, so it is held as long as the one before it.
        return (2 * self.times_s[-1] - self.times_s[-2] - self.times_s[0]) * self.time_scale

    def rate_per_s(self, t_s: float) -> float:
        """Return the scaled rate of the sample at ``t_s``; 0 outside the recording."""
        if not 0 <= t_s < self.duration_s:
            return 0.0
        sample = bisect_right(self.times_s, self.times_s[0] + t_s / self.time_scale) - 1
        return self.rates[sample] * self.rate_scale


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the rates of ``parts``, as long as the longest; raises BadInput without parts."""

    parts: tuple[Workload, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise BadInput("a sum of workloads needs at least one, but it has none")

    @property
    def duration_s(self) -> float | None:
        """Seconds until the last part ends; None if one never ends."""
        ends = [part.duration_s for part in self.parts]
        return None if None in ends else max(end for end in ends if end is not None)

    def rate_per_s(self, t_s: float) -> float:
        """Return the sum of the rates at ``t_s``."""
        return sum(part.rate_per_s(t_s) for part in self.parts)
