"""A random walk: the rate moves by a random step and is reflected at its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from rheostat.errors import BadInput
from rheostat_lab.loads.counter import uniform
from rheostat_lab.loads.prefix import length_for
from rheostat_lab.loads.value_checks import above, at_least

_LANE = 103


@dataclass(frozen=True, slots=True)
class Walk:
    """rate_0 = start, rate_i = rate_(i-1) + U(down, up), reflected at 0 and at ``ceiling``, held
    for ``hold_s`` seconds.

    Steps that are larger upwards than downwards (``up`` > -``down``) give a noisy ramp: ESPA's
    increase and decrease. Step i is a function of (seed, i). Defaults: ESPA's random walk of query
    1.

    Source: delftdata/espa-autoscaling, RandomLoadPattern and IncreaseLoadPattern (which reflect at
    0 only).
    """

    start: float = field(default=150_000.0, metadata={"help": "first rate", "unit": "rows/s"})
    down: float = field(default=-10_000.0, metadata={"help": "the lowest step", "unit": "rows/s"})
    up: float = field(default=10_000.0, metadata={"help": "the highest step", "unit": "rows/s"})
    ceiling: float = field(
        default=2_500_000.0, metadata={"help": "the rate is reflected here", "unit": "rows/s"}
    )
    hold_s: float = field(
        default=60.0, metadata={"help": "the rate is held for this long", "unit": "s"}
    )
    seed: int = field(default=7, metadata={"help": "seed of the steps", "unit": "1"})

    def __post_init__(self) -> None:
        at_least(0, start=self.start)
        above(0, ceiling=self.ceiling, hold_s=self.hold_s)
        if not (math.isfinite(self.down) and math.isfinite(self.up) and self.down <= self.up):
            raise BadInput(
                f"the steps of a walk go from down to up, but down is {self.down} and up is"
                f" {self.up}"
            )
        if max(self.start, self.up, -self.down) > self.ceiling:
            raise BadInput(
                f"start and steps of a walk must be within its ceiling of {self.ceiling:g}, but"
                " they are not"
            )

    @property
    def duration_s(self) -> None:
        """None, because the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate of the step that contains ``t_s``; before the start the first one."""
        i = max(0, math.floor(t_s / self.hold_s))
        return _path(self.start, self.down, self.up, self.ceiling, self.seed, length_for(i))[i]


@lru_cache(maxsize=64)
def _path(
    start: float, down: float, up: float, ceiling: float, seed: int, length: int
) -> tuple[float, ...]:
    steps = down + (up - down) * uniform(seed, _LANE, np.arange(length))
    path = [start]
    for step in steps[1:].tolist():
        # The inner absolute value reflects at 0, the outer one at the ceiling.
        path.append(ceiling - abs(ceiling - abs(path[-1] + step)))
    return tuple(path)
