"""A Spark plant on a machine of varying pace: executors warm up, neighbours compete for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rheostat.sim.plant import Floats, PlantWrapper
from rheostat.sim.spark.spark_plant import SparkPlant


@dataclass(frozen=True, slots=True)
class Pace:
    """Factor on batch times, relative to warm executors on an idle machine.

    It interpolates ``factors`` at ``t_s``, adds ``per_start`` for each starting executor, and adds
    ``new`` times their mean newness, which decays with time constant ``new_s``. ``first`` is the
    newness of the initial executors.
    """

    t_s: tuple[float, ...] = (0.0,)
    factors: tuple[float, ...] = (1.0,)
    per_start: float = 0.0
    new: float = 0.0
    new_s: float = 40.0
    first: float = 0.0

    def at(self, t_s: Floats) -> Floats:
        """Return the factor at each time, constant before the first and after the last knot."""
        return np.interp(t_s, self.t_s, self.factors)

    def newness(self, ages_s: Sequence[float], first: int) -> float:
        """Return the mean newness of executors; 1 if all have just registered."""
        shares = [math.exp(-age_s / self.new_s) for age_s in ages_s]
        return (
            (self.first * sum(shares[:first]) + sum(shares[first:])) / len(shares)
            if shares
            else 0.0
        )


class PacedPlant(PlantWrapper):
    """A Spark plant with a pace; ``starting(t_s)`` overrides the number of starting executors."""

    def __init__(
        self, plant: SparkPlant, pace: Pace, starting: Callable[[float], float] | None = None
    ) -> None:
        super().__init__(plant)
        self._paced, self._pace, self._starting = plant, pace, starting

    def advance(self, now: float) -> None:
        """Run all events due up to ``now``, then set the pace from then on."""
        super().advance(now)
        fleet, pace = self._paced.fleet, self._pace
        starting = (
            self._starting(now) if self._starting else max(0, fleet.target - len(fleet.staying))
        )
        # Executors are numbered in order of registration, so the initial ones come first.
        first = sum(executor.number < self._paced.p.executors for executor in fleet.executors)
        newness = pace.newness([now - executor.registered_s for executor in fleet.executors], first)
        factor = (
            float(pace.at(np.array([now]))[0])
            * (1 + pace.per_start * starting)
            * (1 + pace.new * newness)
        )
        self._paced.slow = factor
        for executor in fleet.executors:
            # Every call sets the factor again, so it needs no end.
            executor.slow, executor.slow_until_s = factor, math.inf
