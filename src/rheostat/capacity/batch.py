"""The micro-batch model: batch duration by rows and slots."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rheostat.capacity.usl import Floats, Usl
from rheostat.errors import BadInput

MANY_ROWS = 1e12
"""More rows than any batch has."""


class Curve(Protocol):
    """Slowdown of slots that share a resource: ``Usl`` or ``Contention``."""

    def slowdown(self, slots: float) -> float:
        """Return the run time of work on one of ``slots`` slots over that on a single slot."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCost:
    """Cost of one stage of a batch, in slot-seconds without contention."""

    tasks: int
    """Number of tasks: Kafka partitions or state partitions."""

    row_s: float
    """Per input row of the stage."""

    task_s: float = 0.0
    """Per task, independent of its rows: launch and commit of its state store."""

    rows_in: float = 1.0
    """Input rows of the stage per row that the batch read."""

    skew: float = 1.0
    """Rows of the largest task over the mean rows of a task."""

    def __post_init__(self) -> None:
        if self.tasks < 1 or not self.skew >= 1 or self.skew > self.tasks:
            raise BadInput(
                "a stage needs 1 task or more and a skew from 1 to its tasks, but it has"
                f" {self.tasks} and {self.skew:g}"
            )
        if not (self.row_s >= 0 and self.task_s >= 0 and self.rows_in >= 0):
            raise BadInput(
                f"the costs of a stage must be at least 0, but they are {self.row_s}, {self.task_s}"
                f" and {self.rows_in}"
            )

    def duration_s(self, rows: float, slots: int, slowdown: float) -> float:
        """Return waves x (work per task), at least the largest task, which one slot processes."""
        task_rows_s = rows * self.rows_in * self.row_s * slowdown / self.tasks
        waves = math.ceil(self.tasks / slots)
        return max(waves * (self.task_s + task_rows_s), self.task_s + self.skew * task_rows_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Trigger interval and row limit of a batch; by default batches run back to back, unlimited."""

    interval_s: float = 0.0
    max_rows: float = math.inf

    def __post_init__(self) -> None:
        if not (self.interval_s >= 0 and self.max_rows > 0):
            raise BadInput(
                "a trigger needs an interval of 0 s or more and rows above 0, but has"
                f" {self.interval_s} and {self.max_rows}"
            )


@dataclass(frozen=True, slots=True)
class BatchModel:
    """T(rows, slots) = fixed_s + sum of the stages, which run one after the other."""

    fixed_s: float
    stages: tuple[StageCost, ...]
    curve: Curve = field(default_factory=Usl)

    def __post_init__(self) -> None:
        if not self.fixed_s >= 0:
            raise BadInput(
                f"the fixed cost of a batch must be at least 0 seconds, but it is {self.fixed_s}"
            )

    def batch_s(self, rows: float, slots: int) -> float:
        """Return the duration of a batch of ``rows`` rows; raises BadInput below one slot."""
        if slots < 1:
            raise BadInput(f"a batch needs at least one slot, but it has {slots}")
        slowdown = self.curve.slowdown(slots)
        return self.fixed_s + sum(stage.duration_s(rows, slots, slowdown) for stage in self.stages)

    def at(self, slots: int, longer: float = 1.0) -> Callable[[float], float]:
        """Return the batch duration as a function of its rows, multiplied by ``longer``; quicker
        than ``batch_s`` for many batches on the same slots.
        """
        fixed_s, (*lines, (least_s, sum_row_s, _, _)) = self.fixed_s, self._lines(slots)

        def batch_s(rows: float) -> float:
            total_s = fixed_s
            for wave_s, row_s, task_s, largest_s in lines:
                total_s += max(wave_s + row_s * rows, task_s + largest_s * rows)
            return (total_s + (least_s + sum_row_s * rows)) * longer

        return batch_s

    def rows_within(self, lasts_s: float, slots: int, longer: float = 1.0) -> float:
        """Return the rows of the largest batch that lasts at most ``lasts_s``; 0 if an empty batch
        lasts longer, ``MANY_ROWS`` if rows cost nothing.
        """
        lines, left_s = self._lines(slots), lasts_s / longer - self.fixed_s
        rows, before = MANY_ROWS, math.inf
        # The duration is convex and piecewise linear, with two pieces per stage: each Newton step
        # from above ends on another piece.
        while 0 < rows < before:
            before, least_s, row_sum_s = rows, 0.0, 0.0
            for wave_s, row_s, task_s, largest_s in lines:
                waves_bind = wave_s + row_s * rows >= task_s + largest_s * rows
                least_s += wave_s if waves_bind else task_s
                row_sum_s += row_s if waves_bind else largest_s
            rows = (left_s - least_s) / row_sum_s if row_sum_s > 0 else before * (least_s <= left_s)
        return max(0.0, min(rows, before))

    def _lines(self, slots: int) -> list[tuple[float, float, float, float]]:
        """Return two lines over rows per stage, for its waves and for its largest task; the higher
        one is its duration. The stages whose waves always bind are summed in the last entry.
        """
        slowdown, lines = self.curve.slowdown(slots), []
        least_s = sum_row_s = 0.0
        for stage in self.stages:
            waves, row_s = math.ceil(stage.tasks / slots), stage.rows_in * stage.row_s * slowdown
            task_row_s = row_s / stage.tasks
            if waves >= stage.skew:
                least_s, sum_row_s = least_s + waves * stage.task_s, sum_row_s + waves * task_row_s
                continue
            lines.append(
                (waves * stage.task_s, waves * task_row_s, stage.task_s, stage.skew * task_row_s)
            )
        return [*lines, (least_s, sum_row_s, least_s, sum_row_s)]

    def capacity_rows_per_s(self, slots: int, trigger: Trigger) -> float:
        """Return the highest rate at which the lag does not grow: the row limit per interval, or
        without a limit 1 / work per row.
        """
        if math.isfinite(trigger.max_rows):
            return trigger.max_rows / max(trigger.interval_s, self.batch_s(trigger.max_rows, slots))
        marginal_s = self.batch_s(2 * MANY_ROWS, slots) - self.batch_s(MANY_ROWS, slots)
        marginal_s /= MANY_ROWS
        return 1 / marginal_s if marginal_s > 0 else math.inf


def batch_time(
    model: BatchModel, slots_per_executor: int = 1
) -> Callable[[Floats, Floats], Floats]:
    """Return ``model.batch_s`` for arrays of rows and of executors."""

    def takes_s(rows: Floats, executors: Floats) -> Floats:
        slots = executors * slots_per_executor
        # A table, because callers evaluate the same few sizes a million times.
        slowdowns = [model.curve.slowdown(count) for count in range(int(slots.max()) + 1)]
        slowdown = np.array(slowdowns)[slots.astype(np.int64)]
        total: Floats = np.full(np.broadcast_shapes(rows.shape, slots.shape), model.fixed_s)
        for stage in model.stages:
            task_rows_s = rows * (stage.rows_in * stage.row_s / stage.tasks) * slowdown
            waves = np.ceil(stage.tasks / slots)
            total = total + np.maximum(
                waves * (stage.task_s + task_rows_s),
                stage.task_s + stage.skew * task_rows_s,
            )
        return total

    return takes_s
