"""The times in which rows waited longer than the objective, and the number of rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

from rheostat.signals.latency import ArrivalCurve
from rheostat_lab.report.finished_run import CommittedBatch, Run
from rheostat_lab.report.latency_shares import share_within
from rheostat_lab.report.rows_over_time import rows_at


@dataclass(frozen=True, slots=True)
class Miss:
    """From ``start_s`` to ``end_s`` (Unix seconds), a row waited that was older than the objective.

    ``arrived_s`` is when the first such row arrived; the cause lies after that time.
    """

    arrived_s: float
    start_s: float
    end_s: float
    rows: float
    """Number of rows that waited longer."""

    worst_s: float
    """The longest wait of a row in seconds."""

    committed: bool = True
    """False if some of them were never committed."""


def misses(run: Run) -> list[Miss]:
    """Return the times in which rows waited longer than the objective, in order; two that are less
    than one objective apart are merged. Rows of the warm-up are excluded.
    """
    merged: list[Miss] = []
    for miss in (*_late_batches(run), *_never_committed(run)):
        # Two that are this close have one cause.
        if merged and miss.start_s - merged[-1].end_s < run.slo.latency_s:
            merged[-1] = _joined(merged[-1], miss)
        else:
            merged.append(miss)
    return merged


def rows_lost(run: Run) -> float:
    """Return the rows older than the objective that were not committed by the end."""
    first = rows_at(run, run.start_s + run.warm_up_s)
    done = max((batch.end_row for batch in run.batches), default=0)
    old = rows_at(run, run.end_s - run.slo.latency_s) - max(first, done)
    # Less than one row is a rounding error of the curve.
    return old if old >= 1 else 0.0


def _late_batches(run: Run) -> Iterator[Miss]:
    curve, first = ArrivalCurve(run.curve), rows_at(run, run.start_s + run.warm_up_s)
    for batch in run.batches:
        # A batch may begin with rows of the warm-up, which are not judged.
        low = max(first, batch.first_row)
        rows, arrived_s = _late_rows(run, batch, curve, low), curve.time_of(low)
        # The first row of a batch is the oldest, so its wait is the longest.
        if arrived_s is not None and rows >= 1:
            yield Miss(
                arrived_s=arrived_s,
                start_s=arrived_s + run.slo.latency_s,
                end_s=batch.commit_s,
                rows=rows,
                worst_s=batch.commit_s - arrived_s,
            )


def _late_rows(run: Run, batch: CommittedBatch, curve: ArrivalCurve, low: float) -> float:
    spreads = curve.latencies(low, batch.end_row, batch.commit_s)
    within = share_within(spreads, run.slo.latency_s)
    return 0.0 if within is None else math.fsum(one.rows for one in spreads) * (1 - within)


def _never_committed(run: Run) -> Iterator[Miss]:
    lost = rows_lost(run)
    if not lost:
        return
    first = rows_at(run, run.start_s + run.warm_up_s)
    done = max(first, max((batch.end_row for batch in run.batches), default=0))
    arrived_s = ArrivalCurve(run.curve).time_of(done)
    if arrived_s is not None:
        yield Miss(
            arrived_s=arrived_s,
            start_s=arrived_s + run.slo.latency_s,
            end_s=run.end_s,
            rows=lost,
            worst_s=run.end_s - arrived_s,
            committed=False,
        )


def _joined(early: Miss, late: Miss) -> Miss:
    return dataclasses.replace(
        early,
        end_s=max(early.end_s, late.end_s),
        rows=early.rows + late.rows,
        worst_s=max(early.worst_s, late.worst_s),
        committed=early.committed and late.committed,
    )
