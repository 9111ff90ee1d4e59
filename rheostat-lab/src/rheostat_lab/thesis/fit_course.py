"""Fits the plant's course (capacity, restarts, checkpoints, warm-up) to the recorded latency, lag
and CPU share of the nine HPA runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from rheostat.sim.plant import Floats
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.thesis.forced_plant import force, latency_errors
from rheostat_lab.thesis.recordings import Recorded

BOUNDS: Mapping[str, tuple[float, float]] = {
    "rate_per_s": (1e3, 2e5),
    "contention": (1e-4, 1.0),
    "coherence": (1e-5, 0.1),
    "strain": (1e-3, 5.0),
    "strain_spread": (1e-3, 1.5),
    "memory": (1e-3, 20.0),
    "strain_after_s": (5.0, 1000.0),
    "cold": (0.01, 0.99),
    "warm_s": (3.0, 600.0),
    "restart_s": (1.0, 30.0),
    "restart_new_s": (0.1, 40.0),
    "checkpoint_pressed_s": (0.1, 60.0),
}
_SPREAD = np.array([0.05, 0.3, 0.5, 0.6, 0.5, 0.6, 0.5, 0.8, 0.6, 0.4, 1.0, 0.7])
_NEAR_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Search:
    """The effort of the search: random points around the start, evaluations along the axes
    (Powell), factors of one run, and a fixed seed.
    """

    random: int = 40
    steps: int = 300
    seed: int = 1
    factors: int = 21


def fit_course(
    start: FlinkJob, recorded: Sequence[Recorded], search: Search | None = None
) -> tuple[FlinkJob, float]:
    """Return the best-fitting job and its loss; only the parameters in ``BOUNDS`` are changed."""
    how = search or Search()
    low, high = (
        np.log([bound[0] for bound in BOUNDS.values()]),
        np.log([bound[1] for bound in BOUNDS.values()]),
    )
    near = [_near_changes(recording) for recording in recorded]

    def made(point: Floats) -> FlinkJob:
        numbers = np.exp(np.clip(point, low, high))
        given: dict[str, Any] = {
            name: float(number) for name, number in zip(BOUNDS, numbers, strict=True)
        }
        return replace(start, **given)

    def loss(point: Floats) -> float:
        job = made(point)
        return float(
            np.mean(
                [
                    _loss(job, recording, close)
                    for recording, close in zip(recorded, near, strict=True)
                ]
            )
        )

    point = np.log([max(getattr(start, name), least) for name, (least, _) in BOUNDS.items()])
    point = np.clip(_random_best(loss, point, how), low, high)
    if not how.steps:
        return made(point), loss(point)
    limits = list(zip(low, high, strict=True))
    optimum = minimize(
        loss,
        point,
        method="Powell",
        bounds=limits,
        options={"maxfev": how.steps, "xtol": 0.02, "ftol": 1e-4},
    )
    best = min((point, optimum.x), key=loss)
    return made(best), loss(best)


def fit_spreads(
    job: FlinkJob, recorded: Sequence[Recorded], search: Search | None = None
) -> FlinkJob:
    """Return the job with the spreads of restarts and warm-up from run to run.

    For each run, one factor of both restart times and one of the warm-up time minimize the loss;
    the candidates are 1/e to e in equal logarithmic steps. The spread is the standard deviation of
    these logarithms over the runs.
    """
    how = search or Search()
    near = [_near_changes(recording) for recording in recorded]
    logs = np.linspace(-1.0, 1.0, how.factors)
    unit = replace(job, restart_noise_run=1.0, warm_noise_run=1.0)

    def spread(tried: Sequence[FlinkJob]) -> float:
        losses = [
            [_loss(candidate, run, close) for candidate in tried]
            for run, close in zip(recorded, near, strict=True)
        ]
        return float(np.std(logs[np.argmin(losses, axis=1)], ddof=1))

    restarts, warming = (
        [unit.of_run(log, 0.0) for log in logs],
        [unit.of_run(0.0, log) for log in logs],
    )
    return replace(job, restart_noise_run=spread(restarts), warm_noise_run=spread(warming))


def _random_best(loss: Callable[[Floats], float], point: Floats, how: Search) -> Floats:
    generator = np.random.default_rng(how.seed)
    best = loss(point)
    for number in range(how.random):
        reach = 1.0 if number < how.random / 2 else 0.5
        tried = point + reach * _SPREAD * generator.standard_normal(len(point))
        if (value := loss(tried)) < best:
            best, point = value, tried
    return point


def _loss(job: FlinkJob, recorded: Recorded, near: Floats) -> float:
    """Return the errors of latency and lag over time, of the mean latency, and of the CPU share in
    the two minutes after a change.
    """
    forced = force(job, recorded)
    latency = np.minimum(latency_errors(forced, recorded), 1.0).mean()
    floor = 2.0 * float(np.mean(recorded.arrivals))
    lag = np.minimum(
        np.abs(np.log10((forced.lag_rows + floor) / (recorded.lag_rows + floor))), 1.0
    ).mean()
    overall = abs(np.log10(forced.latency_s.mean() / recorded.latency_s.mean()))
    cpu = np.nanmean(np.abs(forced.cpu - recorded.cpu)[near.astype(bool)])
    return float(latency + lag + 0.25 * min(overall, 1.0) + cpu)


def _near_changes(recorded: Recorded) -> Floats:
    near = np.zeros(len(recorded.executors))
    for index in np.flatnonzero(np.diff(recorded.executors)) + 1:
        near[index : index + _NEAR_SAMPLES] = 1
    return near if near.any() else near + 1
