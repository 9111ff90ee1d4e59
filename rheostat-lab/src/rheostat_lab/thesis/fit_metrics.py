"""Fits the metrics (CPU share, busy, idle, backpressure, the wait of a job that keeps up) to the
nine HPA runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rheostat.sim.plant import Floats
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.thesis.forced_plant import force
from rheostat_lab.thesis.recordings import Recorded

_STEADY_SAMPLES = 8
_POWERS = np.arange(0, 0.8, 0.02)


def fit_metrics(
    job: FlinkJob, recorded: Sequence[Recorded], busiest_full: float | None
) -> FlinkJob:
    """Return the job with its metrics fitted, in samples at least two minutes after a change.

    ``busiest_full`` is the busy share of the busiest operator at saturation (thesis, section 5.12:
    800 ms/s for q1 and q3); None keeps the job's own ``busiest``.
    """
    steady = {name: np.concatenate(parts) for name, parts in _steady(job, recorded).items()}
    calm = (steady["pressed"] < 0.02) & (steady["recorded_s"] < 0.5) & (steady["used"] > 0.05)
    full = (steady["pressed"] > 0.9) & (steady["recorded_s"] > 3)
    job = replace(job, **_calm({name: values[calm] for name, values in steady.items()}, job))
    if full.sum() > 5:
        job = replace(
            job, **_full({name: values[full] for name, values in steady.items()}, busiest_full)
        )
    return replace(job, waiting=_waiting(job, recorded))


def _steady(job: FlinkJob, recorded: Sequence[Recorded]) -> dict[str, list[Floats]]:
    samples: dict[str, list[Floats]] = {}
    for recording in recorded:
        forced = force(job, recording)
        changed = np.concatenate([[True], np.diff(recording.executors) != 0])
        kept = np.convolve(changed, np.ones(_STEADY_SAMPLES + 1))[: len(changed)] == 0
        columns = {
            "used": _mean5(forced.used),
            "worked": _mean5(forced.worked),
            "now": forced.used,
            "pressed": _mean5(forced.pressed),
            "size": recording.executors,
            "cpu": recording.cpu,
            "busy": recording.busy,
            "idle": recording.idle,
            "pressure": recording.pressure,
            "recorded_s": recording.latency_s,
        }
        for name, values in columns.items():
            samples.setdefault(name, []).append(values[kept])
    return samples


def _calm(samples: dict[str, Floats], job: FlinkJob) -> dict[str, Any]:
    size, used = samples["size"], samples["now"]
    rows = used * np.array([job.task_rate(int(tasks), 0.0) for tasks in size]) / job.rate_per_s
    fits = [(power, *_line(rows * size**power, samples["cpu"])) for power in _POWERS]
    power, idle, use, left = min(fits, key=lambda fit: float(np.mean(fit[3] ** 2)))
    design = np.column_stack([np.ones(len(size)), np.log(samples["worked"]), -np.log(size)])
    busy = np.linalg.lstsq(design, np.log(np.maximum(samples["busy"], 0.01)), rcond=None)[0]
    return {
        "cpu_idle": idle,
        "cpu_use": use,
        "cpu_spread": float(power),
        "cpu_noise": float(1.4826 * np.median(np.abs(left * np.sqrt(size)))),
        "busy_calm": float(np.exp(busy[0])),
        "busy_power": float(busy[1]),
        "busy_spread": max(0.0, float(busy[2])),
        "base_wait_s": float(
            np.median((samples["recorded_s"] * size**2.5)[size <= size.min() + 1])
        ),
    }


def _full(samples: dict[str, Floats], busiest_full: float | None) -> dict[str, Any]:
    size = samples["size"]
    fewest = size == size.min()
    design = np.column_stack([np.ones(len(size)), -np.log(size)])
    busy = np.linalg.lstsq(design, np.log(samples["busy"] / samples["used"]), rcond=None)[0]
    busiest = (
        {}
        if busiest_full is None
        else {"busiest": busiest_full / float(np.median(samples["busy"][fewest]))}
    )
    cpu = np.linalg.lstsq(design, np.log(np.maximum(samples["cpu"], 0.01)), rcond=None)[0]
    return {
        "busy_full": min(1.0, float(np.exp(busy[0]))),
        "busy_full_spread": max(0.0, float(busy[1])),
        "blocked": max(0.0, float(np.median(1 - samples["busy"] - samples["idle"]))),
        "pressure_full": float(np.median(samples["pressure"])),
        "cpu_full": float(np.exp(cpu[0])),
        "cpu_full_spread": max(0.0, float(cpu[1])),
        **busiest,
    }


def _waiting(job: FlinkJob, recorded: Sequence[Recorded]) -> float:
    """Fit the share of time that is neither busy nor idle to the unused share of the rate, while
    the plant has a backlog.
    """
    unused, neither = [], []
    for recording in recorded:
        forced = force(job, recording)
        held_back = (
            (forced.pressed > 0.9)
            & (forced.used > 0)
            & (forced.used < 0.9)
            & (recording.latency_s > 1)
        )
        unused.append(1 - forced.used[held_back])
        neither.append((1 - recording.busy - recording.idle)[held_back] - job.blocked)
    x, y = np.concatenate(unused), np.concatenate(neither)
    known = ~np.isnan(y)
    return (
        min(1.0, max(0.0, float(x[known] @ y[known] / (x[known] @ x[known]))))
        if known.sum() > 5
        else job.waiting
    )


def _line(x: Floats, y: Floats) -> tuple[float, float, Floats]:
    """Return intercept, slope and residuals; the intercept is at least 0."""
    slope, intercept = (float(number) for number in np.polyfit(x, y, 1))
    if intercept < 0:
        intercept, slope = 0.0, float(x @ y / (x @ x))
    return intercept, slope, y - intercept - slope * x


def _mean5(values: Floats) -> Floats:
    return np.convolve(
        np.concatenate([np.full(4, values[0]), values]), np.ones(5) / 5, mode="valid"
    )


def as_numbers(job: FlinkJob) -> dict[str, Any]:
    """Return the parameters with four significant digits, as the package stores them."""
    read = {name: getattr(job, name) for name in job.__slots__}
    return {
        name: float(f"{value:.4g}") if isinstance(value, float) else value
        for name, value in read.items()
        if value != np.inf
    }
