"""The job model of the bounds: durations of batches and changes of size, and their cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from rheostat.errors import BadInput
from rheostat.model import Limits, Slo
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.plant import Floats
from rheostat.sim.workload import Workload

BatchTime: TypeAlias = Callable[[Floats, Floats], Floats]
"""Seconds of a batch by rows and executors, arrays of one shape; non-decreasing in the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A micro-batch job without noise.

    ``trigger_s`` is 0 if batches run back to back; ``max_rows`` is the row limit of a batch. An
    executor works ``start_s`` seconds after its request and is removed ``stop_s`` seconds after its
    release; it is paid for both times. ``rescale_cost`` is the additional cost of a change of size
    in slot-seconds (kappa of the score).
    """

    batch_s: BatchTime
    trigger_s: float = 10.0
    max_rows: float = math.inf
    start_s: float = 30.0
    stop_s: float = 0.0
    limits: Limits = field(default_factory=Limits)
    slots_per_executor: int = 1
    rescale_cost: float = 0.0
    slo: Slo = field(default_factory=Slo)

    @property
    def sizes(self) -> Floats:
        """All sizes within the limits, in increasing order."""
        return np.arange(self.limits.min_executors, self.limits.max_executors + 1, dtype=float)

    def index(self, executors: int) -> int:
        """Return the index of a size in ``sizes``; raises BadInput for one outside the limits."""
        low, high = self.limits.min_executors, self.limits.max_executors
        if not low <= executors <= high:
            raise BadInput(
                f"the number of executors must be within {low} and {high}, but it is {executors}"
            )
        return executors - low

    def switching(self) -> Floats:
        """Return the cost of each change of size in slot-seconds: one row per old size, one column
        per new size.
        """
        more = self.sizes[None, :] - self.sizes[:, None]
        waits_s = self.start_s * np.maximum(more, 0) + self.stop_s * np.maximum(-more, 0)
        # An executor is paid from its request until its removal, although it does not work all that
        # time.
        cost: Floats = self.slots_per_executor * waits_s + self.rescale_cost * (more != 0)
        return cost


@dataclass(frozen=True, slots=True)
class Curve:
    """The arrivals of a run on a grid: ``rows[i]`` until ``i * step_s``; ``rows[0]`` is 0."""

    rows: Floats
    step_s: float

    @property
    def steps(self) -> int:
        """The length of the run in steps."""
        return len(self.rows) - 1

    def at(self, steps: Floats) -> Floats:
        """Return the rows that have arrived by the given steps, linearly interpolated."""
        return np.interp(steps, np.arange(len(self.rows)), self.rows)


def curve_of(load: Workload | Arrivals, duration_s: float, step_s: float) -> Curve:
    """Return the arrivals of a run of ``duration_s`` seconds; raises BadInput for a run shorter
    than two steps or without rows.
    """
    steps = round(duration_s / step_s)
    if steps < 2:
        raise BadInput(
            f"a run must last two steps of {step_s:g} s at least, but it lasts {duration_s:g} s"
        )
    arrivals = load if isinstance(load, Arrivals) else Arrivals(load, step_s=min(1.0, step_s))
    rows = np.array([arrivals.rows_at(i * step_s) for i in range(steps + 1)])
    if rows[-1] <= 0:
        raise BadInput(f"the load contains no rows in {duration_s:g} s; there is nothing to scale")
    # Arrivals may begin earlier: the bounds count from the start of the run.
    return Curve(rows - rows[0], step_s)
