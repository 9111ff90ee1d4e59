"""The rows that a workload has sent by a moment."""

from __future__ import annotations

import math

from rheostat.sim.workload import Workload


class DueRows:
    """Counts the rows due: the integral of the rate by the midpoint rule with ``step_s``."""

    def __init__(self, workload: Workload, step_s: float = 0.05) -> None:
        self._workload = workload
        self._step_s = step_s
        self._steps = 0
        self._rows = 0.0

    def until(self, t_s: float) -> int:
        """Return the whole rows due from 0 to ``t_s``, which must not decrease between calls."""
        while (self._steps + 1) * self._step_s <= t_s:
            self._rows += self._rate() * self._step_s
            self._steps += 1
        rest_s = max(0.0, t_s - self._steps * self._step_s)
        # The sum of many steps of 0.05 s may end just below a whole number.
        return math.floor(self._rows + self._rate() * rest_s + 1e-6)

    def _rate(self) -> float:
        return self._workload.rate_per_s((self._steps + 0.5) * self._step_s)


def rows_until(workload: Workload, t_s: float, step_s: float = 0.05) -> int:
    """Return the rows due from 0 to ``t_s`` seconds, at a constant rate per step of ``step_s``."""
    return DueRows(workload, step_s).until(t_s)
