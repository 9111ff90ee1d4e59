"""Step B: the plant with recorded arrivals and sizes, compared by latency and lag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rheostat.sim.plant import Floats
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_job_metrics import Metrics
from rheostat_lab.flink.flink_tasks import Tasks
from rheostat_lab.thesis.recordings import SAMPLE_S, Recorded
from rheostat_lab.thesis.thesis_runs import START_EXECUTORS

FLOOR_S = 0.05
"""Seconds; lower latencies count as this value."""


@dataclass(frozen=True, slots=True)
class Forced:
    """The plant's values at each sample of a recording."""

    latency_s: Floats
    lag_rows: Floats
    cpu: Floats
    used: Floats
    """Share of the rate that was used in the preceding second."""

    worked: Floats
    """Share of the preceding second that tasks worked."""

    pressed: Floats


def force(job: FlinkJob, recorded: Recorded) -> Forced:
    """Return the plant's course on a recording's arrivals and sizes, without noise."""
    tasks = Tasks(job, recorded.arrivals, START_EXECUTORS)
    tasks.resize(START_EXECUTORS, job.restart_s + job.restart_new_s)
    metrics = Metrics(tasks)
    rows: list[tuple[float, ...]] = []
    for second in range(len(recorded.arrivals) + 1):
        if second % SAMPLE_S == 0:
            rows.append(
                (
                    metrics.lag_s,
                    metrics.lag_rows,
                    tasks.cpu,
                    tasks.used,
                    tasks.worked,
                    tasks.pressed,
                )
            )
        if second == len(recorded.arrivals):
            break
        if second in recorded.sizes:
            size = recorded.sizes[second]
            tasks.resize(size, job.restart_s + (job.restart_new_s if size > tasks.size else 0.0))
            metrics.restarted()
        tasks.step()
        metrics.step()
    return Forced(*(np.array(column) for column in zip(*rows, strict=True)))


def latency_errors(forced: Forced, recorded: Recorded) -> Floats:
    """Return |log10(simulated / recorded latency)| of each sample, both at least 0.05 s."""
    ratio = np.maximum(forced.latency_s, FLOOR_S) / np.maximum(recorded.latency_s, FLOOR_S)
    return np.abs(np.log10(ratio))


def compare(job: FlinkJob, recorded: Recorded) -> dict[str, float | str]:
    """Return step B's row of a recording: errors of latency and lag, and the tables' means."""
    forced = force(job, recorded)
    errors = latency_errors(forced, recorded)
    moved = np.maximum(forced.latency_s, recorded.latency_s) > 1.0
    floor = 2.0 * float(np.mean(recorded.arrivals))
    lag = np.abs(np.log10((forced.lag_rows + floor) / (recorded.lag_rows + floor)))
    return {
        "recording": recorded.name,
        "median_log10_latency": float(np.median(errors)),
        "mean_log10_latency": float(errors.mean()),
        "median_log10_latency_above_1_s": float(np.median(errors[moved])) if moved.any() else 0.0,
        "median_log10_lag": float(np.median(lag)),
        "latency_s": float(forced.latency_s.mean()),
        "recorded_latency_s": float(recorded.latency_s.mean()),
    }
