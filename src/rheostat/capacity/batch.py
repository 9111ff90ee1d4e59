"""The micro-batch model: batch duration by rows and slots."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MANY_ROWS = 1e12
"""More rows than any batch has."""


class Curve(Protocol):
    """Slowdown of slots that share a resource."""

    def slowdown(self, slots: float) -> float:
        """Return the run time of work on one of ``slots`` slots over that on a single slot."""


@dataclass(frozen=True, slots=True)
class Contention:
    """Work per row grows with (slots / ``among``) ^ ``exponent`` up to ``most`` slots and is flat
    beyond; ``among`` is the number of slots at which it was measured.
    """

    exponent: float = 0.0
    most: float = math.inf
    among: float = 1.0

    def slowdown(self, slots: float) -> float:
        """Return the run time on one of ``slots`` slots over the measured one."""
        if not self.exponent:
            return 1.0
        return float((min(slots, self.most) / self.among) ** self.exponent)


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

    def duration_s(self, rows: float, slots: int, slowdown: float) -> float:
        """Return waves x (work per task), at least the largest task, which one slot processes."""
        task_rows_s = rows * self.rows_in * self.row_s * slowdown / self.tasks
        waves = math.ceil(self.tasks / slots)
        return max(waves * (self.task_s + task_rows_s), self.task_s + self.skew * task_rows_s)


@dataclass(frozen=True, slots=True)
class BatchModel:
    """T(rows, slots) = fixed_s + sum of the stages, which run one after the other."""

    fixed_s: float
    stages: tuple[StageCost, ...]
    curve: Curve = Contention()

    def batch_s(self, rows: float, slots: int) -> float:
        """Return the duration of a batch of ``rows`` rows on at least one slot."""
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

    def sustained_rows_per_s(
        self, slots: int, slo_s: float, trigger_s: float, longer: float = 1.0
    ) -> float:
        """Return the highest constant rate at which all rows are in time; 0 if there is none.

        A batch may last L - tau, and tau if batches must not queue. Longer batches run back to back
        and may last L / 2.
        """
        best = 0.0
        for lasts_s, every_s in (
            (min(trigger_s, slo_s - trigger_s), trigger_s),
            (slo_s / 2, slo_s / 2),
        ):
            if lasts_s > 0 and every_s >= trigger_s and every_s > 0:
                best = max(best, self.rows_within(lasts_s, slots, longer) / every_s)
        return best

    def worth_having(self, most: int, rows: float) -> list[int]:
        """Return the numbers of slots up to ``most`` that are faster than all smaller ones: with N
        tasks, ceil(N / waves).
        """
        candidates = {1}
        for stage in self.stages:
            useful = range(1, min(stage.tasks, most) + 1)
            candidates |= {math.ceil(stage.tasks / math.ceil(stage.tasks / n)) for n in useful}
        sizes, best_s = [], math.inf
        for slots in sorted(candidates):
            if (batch_s := self.batch_s(rows, slots)) < best_s * (1 - 1e-9):
                sizes.append(slots)
                best_s = batch_s
        return sizes
