"""Splits a run of several days into days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rheostat_lab.report.finished_run import Ramp, Run
from rheostat_lab.report.rows_over_time import rows_at


def day_starts_s(run: Run) -> list[float]:
    """Return the start of each day in Unix seconds; only the run's start for a single day."""
    if not run.day_s:
        return [run.start_s]
    # Rounded, because the last row arrives slightly before or after the end of the day.
    days = max(1, round((run.curve[-1][0] - run.start_s) / run.day_s)) if run.curve else 1
    return [run.start_s + day * run.day_s for day in range(days)]


def ramps(run: Run) -> list[Ramp]:
    """Return the marked ramp of each day."""
    if run.ramp is None:
        return []
    return [_later(run.ramp, start_s - run.start_s) for start_s in day_starts_s(run)]


def days_of(run: Run) -> Iterator[Run]:
    """Yield each day as a run of its own; the last one ends with the run.

    A row belongs to the day in which it arrived, unless the first batch of the next day contains it
    together with rows of that day. The warm-up is part of the first day only.
    """
    starts_s = day_starts_s(run)
    ends_s = [*starts_s[1:], run.end_s]
    for day, (start_s, end_s) in enumerate(zip(starts_s, ends_s, strict=True)):
        low, high = rows_at(run, start_s), rows_at(run, end_s)
        yield replace(
            run,
            title=f"{run.title}, day {day + 1}",
            start_s=start_s,
            end_s=end_s,
            warm_up_s=0.0 if day else run.warm_up_s,
            records=[record for record in run.records if start_s <= record.t_s < end_s],
            # By rows, not by time, because a batch may commit rows of a day after its end.
            batches=[
                batch for batch in run.batches if low < batch.end_row and batch.first_row < high
            ],
            ramp=None if run.ramp is None else _later(run.ramp, start_s - run.start_s),
            machine=[sample for sample in run.machine if start_s <= sample.t_s < end_s],
            day_s=None,
        )


def _later(ramp: Ramp, by_s: float) -> Ramp:
    return Ramp(ramp.start_s + by_s, ramp.end_s + by_s)
