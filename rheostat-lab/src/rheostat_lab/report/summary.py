"""The numbers of a run; pure. Each definition is at its function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rheostat.journal.events import rescalings
from rheostat.signals.latency import ArrivalCurve, Spread, mean_s
from rheostat_lab.report.days import days_of
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.latency_shares import quantile_s, share_within
from rheostat_lab.report.miss_causes import causes
from rheostat_lab.report.misses import misses, rows_lost
from rheostat_lab.report.rows_over_time import rows_at
from rheostat_lab.report.sizes_over_time import paid, registered

# One batch in time may be an accident between two late ones; three in a row are not.
RECOVERED_BATCHES = 3
RECOVERED_LAG_S = 1.0
WANTED_SHARE = 0.99
"""The share of rows to which the latency objective applies (``Slo``)."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Mean and 99 % quantile over rows in seconds, and the share of rows within the objective; None
    without rows.
    """

    mean_s: float | None = None
    p99_s: float | None = None
    share_within_slo: float | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """A fixed number of executors for the complete run: its cost is computed, its latency is None
    unless it was run.
    """

    name: str
    executors: int
    slot_hours: float
    latency_mean_s: float | None
    latency_p99_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A time (Unix seconds) in which rows waited longer than the objective, with its causes, one
    clause each; ``arrived_s`` is when the first of them arrived.
    """

    arrived_s: float
    start_s: float
    end_s: float
    rows: int
    worst_s: float
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The numbers of a run; None is unknown."""

    exact: bool
    rows_in: int | None
    rows_out: int | None
    executors_min: int
    executors_max: int
    executors_mean: float
    rescalings: int
    failed_tasks: int
    failed_batches: int
    latency_mean_s: float | None
    latency_p99_s: float | None
    slo_s: float
    share_within_slo: float | None
    """Rows that were never committed count as late once they are older than the objective."""

    objective_met: bool | None
    """Whether 99 % of rows were within the objective; None if no latency is known."""

    misses: tuple[Missed, ...]
    warm_up_s: float
    lag_recovery_s: float | None
    overhead_core_share: float | None
    overhead_cpu_s: Mapping[str, float]
    """CPU seconds of the autoscaler, by part."""

    slot_hours: float
    slot_hours_saved_share: float | None
    """Share of the fixed maximum's slot-hours that this run did not use."""

    duration_s: float
    baselines: tuple[Baseline, ...]
    days: tuple[Summary, ...] = ()
    """The summary of each day, if the run consists of several days."""

    price_per_slot_hour: float | None = None
    """Price of one slot-hour, if it was given; the cost is the slot-hours times this price."""


def summarize(run: Run, measured: Mapping[int, Latency] | None = None) -> Summary:
    """Return the numbers of a run; ``measured`` has the latencies at fixed sizes, by executors."""
    size, took, verdict = registered(run), latency(run), run.verdict
    in_time = share_in_time(run)
    # Paid from the request on, because waiting for an executor costs as much as having it.
    slot_hours = paid(run).integral_s * run.slots_per_executor / 3600
    fixed = baselines(run, max(size.counts), size.mean, measured or {})
    return Summary(
        exact=verdict is not None and verdict.exact,
        rows_in=verdict.rows_in if verdict else None,
        rows_out=verdict.rows_out if verdict else None,
        executors_min=min(size.counts),
        executors_max=max(size.counts),
        executors_mean=size.mean,
        rescalings=len(rescalings(run.records)),
        failed_tasks=run.failed_tasks,
        failed_batches=run.failed_batches,
        latency_mean_s=took.mean_s,
        latency_p99_s=took.p99_s,
        slo_s=run.slo.latency_s,
        share_within_slo=in_time,
        objective_met=None if in_time is None else in_time >= WANTED_SHARE,
        misses=tuple(missed(run)),
        warm_up_s=run.warm_up_s,
        lag_recovery_s=lag_recovery_s(run),
        overhead_core_share=run.overhead.core_share if run.overhead else None,
        overhead_cpu_s=dict(run.overhead.cpu_s) if run.overhead else {},
        slot_hours=slot_hours,
        slot_hours_saved_share=(
            1 - slot_hours / fixed[0].slot_hours if fixed[0].slot_hours else None
        ),
        duration_s=run.duration_s,
        baselines=fixed,
        days=tuple(summarize(day) for day in days_of(run)) if run.day_s else (),
        price_per_slot_hour=run.price_per_slot_hour,
    )


def latency(run: Run) -> Latency:
    """Return the latency over the committed rows: commit time of a row's batch minus its append
    time. Rows of the warm-up are excluded.
    """
    spreads = _spreads(run)
    return Latency(
        mean_s(spreads), quantile_s(spreads, 0.99), share_within(spreads, run.slo.latency_s)
    )


def share_in_time(run: Run) -> float | None:
    """Return the share of all rows that were within the objective; rows that were never committed
    count as late once they are older than the objective. None without rows.
    """
    spreads, lost = _spreads(run), rows_lost(run)
    rows = math.fsum(spread.rows for spread in spreads)
    if rows + lost == 0:
        return None
    # Lost rows are in the denominator; otherwise the worst failure would look best.
    return (share_within(spreads, run.slo.latency_s) or 0.0) * rows / (rows + lost)


def _spreads(run: Run) -> list[Spread]:
    return [spread for part in batch_latencies(run, run.start_s + run.warm_up_s) for spread in part]


def missed(run: Run) -> list[Missed]:
    """Return the times in which rows waited longer than the objective, each with its causes."""
    return [
        Missed(
            arrived_s=miss.arrived_s,
            start_s=miss.start_s,
            end_s=miss.end_s,
            rows=round(miss.rows),
            worst_s=miss.worst_s,
            causes=tuple(causes(run, miss)),
        )
        for miss in misses(run)
    ]


def batch_latencies(run: Run, from_s: float = -math.inf) -> list[list[Spread]]:
    """Return the latencies of each batch's rows, of those that arrived at ``from_s`` or later."""
    curve = ArrivalCurve(run.curve)
    first = rows_at(run, from_s) if run.curve and from_s > run.curve[0][0] else -math.inf
    return [
        curve.latencies(max(first, batch.first_row), batch.end_row, batch.commit_s)
        for batch in run.batches
    ]


def lag_recovery_s(run: Run) -> float | None:
    """Return the seconds from the ramp's end to the commit of the third consecutive batch that left
    less than one second of arrivals.

    The lag is measured just after a batch's commit: the rows that had arrived minus the committed
    rows. It is less than one second of arrivals exactly if everything that had arrived one second
    before the commit is committed. None if that never happened, and without a marked ramp. Fails
    when batches take longer than a second, because rows that arrive during a batch wait for the
    next one.
    """
    if run.ramp is None:
        return None
    in_a_row = 0
    for batch in run.batches:
        # Batches during the ramp do not prove a recovery.
        if batch.commit_s < run.ramp.end_s:
            continue
        in_a_row = (
            in_a_row + 1 if batch.end_row >= rows_at(run, batch.commit_s - RECOVERED_LAG_S) else 0
        )
        if in_a_row == RECOVERED_BATCHES:
            return batch.commit_s - run.ramp.end_s
    return None


def baselines(
    run: Run, most: int, mean: float, measured: Mapping[int, Latency]
) -> tuple[Baseline, ...]:
    """Return the fixed maximum and the fixed mean (rounded up) over the same time."""
    # Rounded up, because a fixed size below the mean could never keep up.
    sizes = {"fixed maximum": most, "fixed mean": math.ceil(mean)}
    hours = run.duration_s * run.slots_per_executor / 3600
    took = {size: measured.get(size, Latency()) for size in sizes.values()}
    return tuple(
        Baseline(name, size, size * hours, took[size].mean_s, took[size].p99_s)
        for name, size in sizes.items()
    )


def to_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as JSON values, with numbers rounded to their precision."""
    return {name: _rounded(value) for name, value in asdict(summary).items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
