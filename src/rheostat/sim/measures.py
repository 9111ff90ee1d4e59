"""Measures of a run: latency of rows, cost, rescalings, and SPEC's elasticity metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from rheostat.model import Slo
from rheostat.sim.plant import Floats, Ledger, Steps

# The SLO also requires 90 % in every five minutes, so that a long run cannot hide a bad period.
_WINDOW_S = 300.0
# The thesis counts rescalings between its samples, which are 15 s apart.
_SAMPLE_S = 15.0
_MINUTE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Elasticity:
    """Supply (registered executors) against demand (Herbst et al., SPEC-RG-2016-01)."""

    accuracy_under: float
    """Mean of the missing executors over the demand, in percent."""

    accuracy_over: float
    """Mean of the surplus executors over the demand, in percent."""

    timeshare_under: float
    """Share of the time with missing executors, in percent."""
    timeshare_over: float
    """Share of the time with surplus executors, in percent."""
    instability: float
    """Share of the minutes in which supply and demand change in different directions, in percent.
    """

    adaptations_per_h: float
    """Changes of the supply between samples 15 s apart."""

    jitter_per_h: float
    """These changes minus the changes of the demand: positive if there are more than needed."""


ELASTICITY = tuple(option.name for option in fields(Elasticity))
"""The names of its metrics, as in the rows of a sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of a run after its warm-up; latencies are row-weighted, None without rows."""

    latency_mean_s: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    latency_p99_s: float | None
    within: float | None
    """Share of rows within the objective; uncommitted rows count as late once they exceed it."""
    worst_window: float | None
    """The same share in the worst window of five minutes."""

    attained: bool
    """Whether the SLO is met: 99 % of the rows over the run and 90 % in every five minutes."""

    late_s: float
    """Seconds in which the oldest waiting row was older than the objective."""
    executor_hours: float
    """Executor-hours from each executor's request to its end."""
    executors_mean: float
    """Registered executors, mean over time."""

    rescalings: int
    """Executed changes of the target."""

    rescalings_registered: int
    """Changes of the registered executors between samples 15 s apart, as in Koper's thesis."""

    executors_started: int
    downtime_s: float
    lag_max_rows: float
    lag_end_rows: float
    latency_plus_executors: float | None
    """The sum used in the thesis: mean latency in seconds + mean executors."""

    elasticity: Elasticity | None


def measures(
    ledger: Ledger, slo: Slo, *, warm_up_s: float = 0.0, demand: Steps | None = None
) -> Measures:
    """Return the measures of a run without its first ``warm_up_s`` seconds.

    ``demand`` is the minimal number of executors over time; without it there is no elasticity.
    """
    start_s, end_s = warm_up_s, ledger.end_s
    counted = ledger.commit_s >= start_s
    columns = (ledger.latency_s, ledger.rows, ledger.commit_s)
    latency, rows, commit = (column[counted] for column in columns)
    p50, p95, p99 = quantiles_s(latency, rows, (0.5, 0.95, 0.99))
    mean = float(latency @ rows / rows.sum()) if rows.sum() > 0 else None
    # Waiting rows may still be in time; rows beyond the objective count as late already.
    late = ledger.left_age_s > slo.latency_s
    left_late = float(ledger.left_rows[late].sum())
    in_time = float(rows[latency <= slo.latency_s].sum())
    judged = float(rows.sum()) + left_late
    within = in_time / judged if judged > 0 else None
    worst = _worst_window(commit - start_s, rows, latency <= slo.latency_s, within)
    executors_mean = ledger.registered.integral(start_s, end_s) / max(end_s - start_s, 1e-9)
    return Measures(
        latency_mean_s=mean,
        latency_p50_s=p50,
        latency_p95_s=p95,
        latency_p99_s=p99,
        within=within,
        worst_window=worst,
        attained=within is not None and worst is not None and within >= 0.99 and worst >= 0.9,
        late_s=_late_s(ledger, slo.latency_s, start_s),
        executor_hours=ledger.paid.integral(start_s, end_s) / 3600,
        executors_mean=executors_mean,
        rescalings=ledger.targets.changes(start_s),
        rescalings_registered=_sampled_changes(ledger, start_s),
        executors_started=ledger.executors_started,
        downtime_s=ledger.downtime_s,
        lag_max_rows=float(ledger.lag_rows[ledger.lag_t_s >= start_s].max(initial=0.0)),
        lag_end_rows=float(ledger.lag_rows[-1]),
        latency_plus_executors=None if mean is None else mean + executors_mean,
        elasticity=_elasticity(ledger, demand, start_s) if demand is not None else None,
    )


def quantiles_s(latency_s: Floats, rows: Floats, shares: Sequence[float]) -> list[float | None]:
    """Return the latencies (s) that these shares of the rows do not exceed; None without rows."""
    if rows.sum() <= 0:
        return [None] * len(shares)
    order = np.argsort(latency_s, kind="stable")
    reached = np.cumsum(rows[order])
    # Allow for rounding: a sum of floats may be slightly below the total.
    places = np.searchsorted(reached, np.array(shares) * reached[-1] * (1 - 1e-12))
    return [float(latency_s[order[place]]) for place in places]


def _worst_window(
    since_s: Floats,
    rows: Floats,
    in_time: np.ndarray[tuple[int], np.dtype[np.bool_]],
    none: float | None,
) -> float | None:
    if not len(since_s):
        return none
    # Assign rows to windows by their commit time.
    window = (since_s // _WINDOW_S).astype(np.int64)
    total, good = np.bincount(window, rows), np.bincount(window, rows * in_time)
    # A window without rows misses nothing.
    filled = total > 0
    return float((good[filled] / total[filled]).min())


def _late_s(ledger: Ledger, slo_s: float, start_s: float) -> float:
    """Return the seconds in which at least one row was older than the SLO."""
    latency = np.concatenate((ledger.latency_s, ledger.left_age_s))
    until = np.concatenate((ledger.commit_s, np.full(len(ledger.left_age_s), ledger.end_s)))
    # Late rows overlap in time; count each second only once.
    late = latency > slo_s
    begin, end = np.maximum((until - latency)[late] + slo_s, start_s), until[late]
    # Rows are in order of arrival, in which commit times never fall.
    covered = np.concatenate(([-math.inf], end))[:-1]
    return float(np.maximum(0.0, end - np.maximum(begin, covered)).sum())


def _sampled_changes(ledger: Ledger, start_s: float) -> int:
    sampled = ledger.registered.at(np.arange(start_s, ledger.end_s, _SAMPLE_S))
    return int(np.count_nonzero(np.diff(sampled)))


def _elasticity(ledger: Ledger, demand: Steps, start_s: float) -> Elasticity:
    t_s = np.arange(start_s, ledger.end_s, 1.0)
    needed, supply = demand.at(t_s), ledger.registered.at(t_s)
    missing, surplus = np.maximum(needed - supply, 0.0), np.maximum(supply - needed, 0.0)
    # SPEC's accuracy is relative to the demand; avoid dividing by 0.
    share = np.maximum(needed, 1.0)
    moments = np.arange(start_s, ledger.end_s, _MINUTE_S)
    # SPEC's instability compares only directions, not amounts.
    moves = [np.sign(np.diff(steps.at(moments))) for steps in (ledger.registered, demand)]
    adaptations, hours = _sampled_changes(ledger, start_s), max(ledger.end_s - start_s, 1e-9) / 3600
    return Elasticity(
        accuracy_under=100 * float((missing / share).mean()),
        accuracy_over=100 * float((surplus / share).mean()),
        timeshare_under=100 * float((missing > 0).mean()),
        timeshare_over=100 * float((surplus > 0).mean()),
        instability=100 * float((moves[0] != moves[1]).mean()) if len(moments) > 1 else 0.0,
        adaptations_per_h=adaptations / hours,
        jitter_per_h=(adaptations - demand.changes(start_s)) / hours,
    )
