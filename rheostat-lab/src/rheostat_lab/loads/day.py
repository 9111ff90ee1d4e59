"""A day in four minutes: the load of the demo."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from rheostat.errors import BadInput
from rheostat_lab.loads.counter import uniform_at
from rheostat_lab.loads.value_checks import above, at_least

_LANE = 102
_RAMP_FROM, _PEAK_TO = 0.58, 0.74

# (share of the day, height between low = 0 and peak = 1), linear in between.
_SHAPE = (
    (0.00, 0.00),
    (0.08, 0.00),  # night
    (0.24, 0.60),  # morning
    (0.38, 0.60),  # plateau
    (0.46, 0.20),
    (_RAMP_FROM, 0.20),  # quiet afternoon, before the ramp to the peak
    (_PEAK_TO, 1.00),
    (0.90, 0.00),  # evening
    (1.00, 0.00),  # night
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of night, morning, plateau, quiet afternoon, one steep marked ramp to the peak, evening
    and night, repeated every day.

    The rate is between ``low`` and ``peak`` rows per second, times a noise of 1 +- ``noise`` that
    changes every ``hold_s`` seconds and is a function of the seed. The ramp takes ``ramp_share`` of
    the day, by default 4 %: 9.6 s of 240 s, one hour of 24.
    """

    low: float = field(default=300.0, metadata={"help": "rate at night", "unit": "rows/s"})
    peak: float = field(default=3000.0, metadata={"help": "rate at the peak", "unit": "rows/s"})
    day_s: float = field(default=240.0, metadata={"help": "length of the day", "unit": "s"})
    noise: float = field(default=0.03, metadata={"help": "relative noise", "unit": "1"})
    hold_s: float = field(
        default=1.0, metadata={"help": "the noise is held for this long", "unit": "s"}
    )
    ramp_share: float = field(
        default=0.04, metadata={"help": "length of the steep ramp", "unit": "share of the day"}
    )
    seed: int = field(default=7, metadata={"help": "seed of the noise", "unit": "1"})

    def __post_init__(self) -> None:
        at_least(0, low=self.low, noise=self.noise)
        above(0, day_s=self.day_s, hold_s=self.hold_s)
        at_least(self.low, peak=self.peak)
        if self.noise > 1:
            raise BadInput(
                f"noise is a share of the rate and must be between 0 and 1, but it is {self.noise}"
            )

        if not 0 < self.ramp_share < _PEAK_TO - _RAMP_FROM:
            raise BadInput(
                f"ramp_share must be above 0 and below {_PEAK_TO - _RAMP_FROM:.2f}, but it is"
                f" {self.ramp_share}"
            )

    @property
    def duration_s(self) -> float:
        """Length of one day in seconds."""
        return self.day_s

    @property
    def marks(self) -> Mapping[str, float]:
        """Begin and end of the steep ramp of the first day, in seconds from the start."""
        begin, end = _RAMP_FROM, _RAMP_FROM + self.ramp_share
        return {"ramp_start_s": begin * self.day_s, "ramp_end_s": end * self.day_s}

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate at ``t_s``."""
        # Just before a day ends the remainder is rounded up to 1, which is 0 of the next day.
        height = _height((t_s / self.day_s) % 1.0 % 1.0, self.ramp_share)
        wobble = 2 * uniform_at(self.seed, _LANE, math.floor(t_s / self.hold_s)) - 1
        return (self.low + height * (self.peak - self.low)) * (1 + self.noise * wobble)


def _height(share: float, ramp_share: float) -> float:
    # Not in the table: the length of the ramp is a parameter, but the end of the peak is not.
    if _RAMP_FROM <= share < _PEAK_TO:
        return min(1.0, 0.20 + 0.80 * (share - _RAMP_FROM) / ramp_share)
    i = bisect_right(_SHAPE, share, key=lambda knot: knot[0])
    (x0, y0), (x1, y1) = _SHAPE[i - 1], _SHAPE[i]
    return y0 + (y1 - y0) * (share - x0) / (x1 - x0)
