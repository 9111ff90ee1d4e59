"""A Spark plant on a machine whose pace changes: code is compiled while it runs, and neighbours take their share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rheostat.sim.around import Around
from rheostat.sim.plant import Floats
from rheostat.sim.spark_plant import SparkPlant


@dataclass(frozen=True, slots=True)
class Pace:
    """How much longer a task takes over time: ``factors[i]`` at ``t_s[i]``, on straight lines between, 1 for none.

    ``per_start`` more, as a share, for each executor that starts meanwhile: on one machine its start takes the others' time.
    """

    t_s: tuple[float, ...] = (0.0,)
    factors: tuple[float, ...] = (1.0,)
    per_start: float = 0.0

    def at(self, t_s: Floats) -> Floats:
        """Return the factor at each time; before the first knot and after the last one theirs."""
        return np.interp(t_s, self.t_s, self.factors)


class PacedPlant(Around):
    """A Spark plant whose tasks take the pace's factor longer; the factor changes when the plant is looked at.

    ``starting(t_s)`` tells how many executors start, where that is not what the plant itself shows.
    """

    def __init__(self, plant: SparkPlant, pace: Pace, starting: Callable[[float], float] | None = None) -> None:
        super().__init__(plant)
        self._fleet, self._pace, self._starting = plant.fleet, pace, starting

    def advance(self, now: float) -> None:
        """Let everything happen up to ``now``, then set the pace from then on."""
        super().advance(now)
        starting = self._starting(now) if self._starting else max(0, self._fleet.target - len(self._fleet.staying))
        factor = float(self._pace.at(np.array([now]))[0]) * (1 + self._pace.per_start * starting)
        for executor in self._fleet.executors:
            executor.slow, executor.slow_until_s = factor, math.inf
