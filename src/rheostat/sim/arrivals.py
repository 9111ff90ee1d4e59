"""The arrival curve of a simulated job."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

import numpy as np

from rheostat.errors import BadInput
from rheostat.sim.plant import Floats
from rheostat.sim.workload import Workload

_CHUNK = 512


class Arrivals:
    """The integral of a workload's rate by the midpoint rule with steps of ``step_s`` seconds.

    With ``noise`` each step has a Poisson number of rows; equal seeds give equal arrivals.
    """

    def __init__(
        self, workload: Workload, *, step_s: float = 1.0, noise: np.random.Generator | None = None
    ) -> None:
        if not step_s > 0:
            raise BadInput(
                f"the step of an arrival curve must be above 0 seconds, but it is {step_s}"
            )
        self._workload, self._step_s, self._noise = workload, step_s, noise
        self._rows = [0.0]
        """Cumulative rows at the beginning of each step."""
        # With these sums, the mean arrival time of any range of rows needs no loop.
        self._moments = [0.0]
        """Sum of the arrival times of these rows, in seconds."""

    def rows_at(self, t_s: float) -> float:
        """Return the rows that have arrived by ``t_s``; 0 before 0 s."""
        step, into = self._place(t_s)
        rows = self._rows
        return rows[step] + into * (rows[step + 1] - rows[step])

    def rows_by(self, t_s: Floats) -> Floats:
        """Return the rows that have arrived by each of these times."""
        return np.array([self.rows_at(float(t)) for t in t_s])

    def time_of(self, row: float, by_s: float) -> float:
        """Return when more than ``row`` rows have arrived; infinite if not by about ``by_s``."""
        # A load may never bring another row, so the search ends at a time.
        while self._rows[-1] <= row:
            if (len(self._rows) - 1) * self._step_s > by_s:
                return math.inf
            self._grow()
        # Search from the right: of steps without rows the last one precedes the row's arrival.
        step = bisect_right(self._rows, row) - 1
        share = (row - self._rows[step]) / (self._rows[step + 1] - self._rows[step])
        return (step + share) * self._step_s

    def mean_time(self, first_row: float, end_row: float) -> float:
        """Return the mean arrival time (s) of a range of rows that have all arrived."""
        return (self._moment(end_row) - self._moment(first_row)) / (end_row - first_row)

    def curve(self, until_s: float) -> tuple[Floats, Floats]:
        """Return the curve up to ``until_s``: times, and cumulative rows at these times."""
        step, _ = self._place(until_s)
        times = self._step_s * np.arange(step + 1)
        return np.append(times, until_s), np.append(self._rows[: step + 1], self.rows_at(until_s))

    def _place(self, t_s: float) -> tuple[int, float]:
        steps = max(0.0, t_s) / self._step_s
        step = int(steps)
        while step + 1 >= len(self._rows):
            self._grow()
        return step, steps - step

    def _moment(self, row: float) -> float:
        """Return the sum of the arrival times of the first ``row`` rows."""
        row = min(row, self._rows[-1])
        step = max(0, bisect_left(self._rows, row) - 1)
        more, all_of_it = row - self._rows[step], self._rows[step + 1] - self._rows[step]
        share = more / all_of_it if more > 0 else 0.0
        return self._moments[step] + more * (step + share / 2) * self._step_s

    def _grow(self) -> None:
        known = len(self._rows) - 1
        # With the midpoint, the integral of a linear piece is exact.
        middles = [(known + i + 0.5) * self._step_s for i in range(_CHUNK)]
        # Clip negative rates: all searches need a curve that never falls.
        rows = np.array([max(0.0, self._workload.rate_per_s(t)) for t in middles]) * self._step_s
        # Draw chunks of a constant length, so that arrivals depend on the seed only.
        if self._noise is not None:
            rows = self._noise.poisson(rows).astype(np.float64)
        self._rows += (self._rows[-1] + np.cumsum(rows)).tolist()
        self._moments += (self._moments[-1] + np.cumsum(rows * middles)).tolist()
