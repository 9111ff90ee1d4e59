"""The scale for policies: the best fixed size, the clairvoyant, and the score between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rheostat.sim.spark.spark_capacity import batch_time
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.workload import Workload
from rheostat_lab.bounds.batch_grid import Batches
from rheostat_lab.bounds.batch_path import Path
from rheostat_lab.bounds.bounded_job import Curve, Job, curve_of
from rheostat_lab.bounds.clairvoyant import Bracket, clairvoyant

_MOST_CELLS = 3e6


@dataclass(frozen=True, slots=True)
class Bounds:
    """The best fixed size (None if none attains the objective), its cost in slot-seconds, and the
    clairvoyant's bracket.
    """

    static: int | None
    static_cost: float | None
    clairvoyant: Bracket


def bounds(job: Job, load: Workload, duration_s: float, initial: int | None = None) -> Bounds:
    """Return the bounds of a run of a load.

    Times are on a grid of ``grid_step_s``. The clairvoyant starts with ``initial`` executors;
    without it with any number, like the best fixed size, and then it never costs more than that.
    Raises BadInput as ``curve_of`` does.
    """
    curve = curve_of(load, duration_s, grid_step_s(job, duration_s))
    static = best_static(job, curve)
    size, path = static or (None, None)
    bracket = clairvoyant(job, curve, initial, fixed=path)
    return Bounds(size, path.cost if path else None, bracket)


def grid_step_s(job: Job, duration_s: float) -> float:
    """Return the step of the grid in seconds: a quarter of the trigger interval (a tenth with a row
    limit), or at least one second without a trigger.

    Batches longer than the interval end between two triggers. A finer grid has smaller rounding
    errors and takes longer: if the table had more than 3 million cells, the step is half an
    interval, then a complete one.
    """
    if not job.trigger_s:
        return max(1.0, duration_s / 5000)
    if math.isfinite(job.max_rows):
        return job.trigger_s / 10
    per_part = (
        duration_s / job.trigger_s * (3 * job.slo.latency_s / job.trigger_s + 2) * len(job.sizes)
    )
    return job.trigger_s / next(
        (parts for parts in (4, 2) if parts**2 * per_part <= _MOST_CELLS), 1
    )


def best_static(job: Job, curve: Curve) -> tuple[int, Path] | None:
    """Return the smallest size that attains the objective, and its run; None if there is none."""
    # Smallest first, because the first size that attains is the cheapest one.
    for executors in job.sizes:
        path = run_static(job, curve, int(executors))
        if path.attains():
            return int(executors), path
    return None


def run_static(job: Job, curve: Curve, executors: int, *, kindly: bool = False) -> Path:
    """Return the run at a fixed size on a grid, rounded against the job or ``kindly``; rows that
    are not committed in time are late.
    """
    batches = Batches(job, curve, kindly=kindly)
    t = batches.interval
    since, points = 0, []
    while t < curve.steps:
        until, lasts, late = batches.from_step(t, np.array([since]), np.array([float(executors)]))
        points.append(
            (
                t * curve.step_s,
                float(executors),
                float(curve.rows[until[0]] - curve.rows[since]),
                float(late[0]),
            )
        )
        t, since = t + int(lasts[0]), int(until[0])
    # Uncommitted rows at the end that are already too old count as late.
    left = float(
        curve.at(np.array([curve.steps - job.slo.latency_s / curve.step_s]))[0] - curve.rows[since]
    )
    if left > 0:
        points.append(((curve.steps - 1) * curve.step_s, float(executors), left, left))
    return Path.of(
        points, cost=curve.steps * curve.step_s * executors * job.slots_per_executor, rescalings=0
    )


def score(cost: float, static: float, bound: float, *, attained: bool) -> float | None:
    """Return (J_static - J) / (J_static - J_bound): 1 is the bound, 0 the best fixed size; None if
    the objective was missed.

    J is slot-seconds plus the price of the rescalings. The score is also None if a fixed size is as
    good as the bound, because nothing can be gained then.
    """
    # A run that missed the objective has no score: low cost does not compensate for late rows.
    if not attained or static <= bound:
        return None
    return (static - cost) / (static - bound)


def job_of(parameters: SparkParameters, **more: object) -> Job:
    """Return the job of a simulated Spark plant without noise: batch model, trigger and start time;
    ``more`` sets the other fields.
    """
    given: dict[str, object] = {
        "batch_s": batch_time(parameters.model, parameters.slots_per_executor),
        "trigger_s": parameters.trigger_s,
        "max_rows": parameters.max_rows or math.inf,
        "start_s": parameters.start_s + parameters.warm_up_s,
        "stop_s": parameters.leave_s,
        "slots_per_executor": parameters.slots_per_executor,
    }
    return Job(**{**given, **more})  # type: ignore[arg-type]
