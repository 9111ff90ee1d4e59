"""Micro-batches on a time grid: rows, durations and late rows; the job model of the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rheostat.errors import BadInput
from rheostat.sim.plant import Floats
from rheostat_lab.bounds.bounded_job import Curve, Job

Steps: TypeAlias = NDArray[np.int64]


class BatchesAtStep(NamedTuple):
    """Batches that start at one step: the step where their rows end, their duration in steps, and
    their late rows.
    """

    until: Steps
    lasts: Steps
    late: Floats


@dataclass(frozen=True, slots=True)
class Batches:
    """The batches of a job with these arrivals.

    A batch that starts at step ``t`` with the rows since step ``s`` has the backlog age ``t - s``,
    which determines the backlog, because the arrivals are known. The next batch starts at the next
    multiple of the trigger interval, or at once after a batch that took longer, as in Spark. Batch
    ends off the grid and cuts of a row limit between two steps are rounded: with ``kindly`` in the
    job's favor, otherwise against it. Raises BadInput for a row limit below the rows of one step,
    and for a trigger interval that is not a multiple of the step.
    """

    job: Job
    curve: Curve
    kindly: bool = False

    def __post_init__(self) -> None:
        most = float(np.diff(self.curve.rows).max())
        # A batch takes the rows of complete steps; one that cannot take a single step would never
        # advance.
        if most > self.job.max_rows:
            text = f"a rows limit of {self.job.max_rows:g} needs a finer grid"
            raise BadInput(f"{text}: a step of {self.curve.step_s:g} s brings {most:.0f} rows")
        steps = self.job.trigger_s / self.curve.step_s
        if abs(steps - round(steps)) > 1e-6:
            text = f"the trigger interval, {self.job.trigger_s:g} s,"
            raise BadInput(f"{text} must be a multiple of the grid's step, {self.curve.step_s:g} s")

    @property
    def interval(self) -> int:
        """The steps between two triggers; 1 if batches run back to back."""
        return max(1, round(self.job.trigger_s / self.curve.step_s))

    def from_step(self, t: int, since: Steps, executors: Floats) -> BatchesAtStep:
        """Return the batches that start at step ``t`` with the rows since ``since``; both arrays
        have the same shape.
        """
        job, rows, step_s = self.job, self.curve.rows, self.curve.step_s
        until = self._until(t, since)
        takes_s = job.batch_s(rows[until] - rows[since], executors)
        in_steps = takes_s / step_s
        # Down if kindly, otherwise up: the true end is between both, and so is the bracket of the
        # bounds.
        ends = np.floor(in_steps + 1e-9) if self.kindly else np.ceil(in_steps - 1e-9)
        # A batch that ends early waits for its trigger, and that time belongs to it.
        lasts = np.maximum(ends.astype(np.int64), self.interval - t % self.interval)
        in_time_from = (
            t + (takes_s - job.slo.latency_s) / step_s
        )  # rows that arrive later are in time
        late = self.curve.at(np.minimum(until, in_time_from)) - rows[since]
        return BatchesAtStep(until, lasts, np.maximum(0.0, late))

    def _until(self, t: int, since: Steps) -> Steps:
        rows = self.curve.rows
        if not np.isfinite(self.job.max_rows):
            return np.full(since.shape, t)
        # Slightly more than the limit, because sums of rows are rounded.
        most = rows[since] + self.job.max_rows * (1 + 1e-12)
        reach = (
            np.searchsorted(rows, most, side="left")
            if self.kindly
            else np.searchsorted(rows, most, side="right") - 1
        )
        # At least one step, because a batch without progress would repeat forever.
        until: Steps = np.minimum(t, np.maximum(reach, since + 1))
        return until
