"""The batch model of a running job, learned from its batches: cost per row, per task and per batch.

The work of a stage is the run time of its tasks, a line over the rows whose intercept is the fixed
cost of the tasks. Batch times are not regressed on sizes, because the policy chooses the sizes by
the load, so both are collinear. A job whose stages are not observable has a single stage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from rheostat.capacity.batch import BatchModel, Contention, StageCost
from rheostat.model import Stage, source_readers
from rheostat.tuning import TUNING, Tuning

Moments: TypeAlias = Sequence[float]
"""Sums of 1, x, x^2, y and x y over the samples, weighted with 1 / y^2 and by age, and the number
of samples that are not forgotten."""

EMPTY: Moments = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def with_sample(moments: Moments, x: float, y: float, forget: float) -> list[float]:
    """Return the moments with one more sample; older ones lose the share ``forget`` of their
    information at ``x``.

    With directional forgetting (Cao and Schwartz, 2000) hours of samples at one ``x`` do not erase
    the slope that samples at others showed. Errors are relative, because a batch of ten seconds
    shows little of a fixed cost of 300 ms and one of half a second shows much. ``y`` must be above
    0.
    """
    ones, xs, squares, ys, products, count = moments
    of_one, of_x, of_y = ones + xs * x, xs + squares * x, ys + products * x
    share = forget / along if (along := of_one + of_x * x) > 0 else 0.0
    weight = 1 / (y * y)
    return [
        ones - share * of_one * of_one + weight,
        xs - share * of_one * of_x + x * weight,
        squares - share * of_x * of_x + x * x * weight,
        ys - share * of_one * of_y + y * weight,
        products - share * of_x * of_y + x * y * weight,
        (1 - forget) * count + 1.0,
    ]


def fitted_line(
    moments: Moments, slope: float | None = None, least: float = 0.0
) -> tuple[float, float]:
    """Return (intercept, slope) of the line; the intercept is at least 0, the slope at least
    ``least``.

    The prior is ``slope`` if given, otherwise an intercept of 0: samples at a single x are
    attributed to the slope. The prior weighs as much as one sample; without samples it is
    returned.
    """
    ones, xs, squares, ys, products, count = moments
    if count <= 0 or squares <= 0:
        return 0.0, slope or 0.0
    share = 1 / count
    if slope is None:
        ones *= 1 + share
    else:
        products += share * squares * slope
        squares *= 1 + share
    determinant = ones * squares - xs * xs
    if determinant <= 1e-12 * ones * squares:
        return 0.0, products / squares
    intercept = (ys * squares - xs * products) / determinant
    rises = (ones * products - xs * ys) / determinant
    if rises < least:
        return max(0.0, (ys - least * xs) / ones), least
    return (intercept, rises) if intercept >= 0 else (0.0, products / squares)


@dataclass(frozen=True, slots=True)
class Identified:
    """A batch model and its errors."""

    model: BatchModel
    spread: float
    """Standard deviation of log(batch time / model)."""

    error: float | None
    """Median absolute log error of the last five batches; None before there were five."""


class StageFit(NamedTuple):
    """The line of a stage's run time over its rows, its tasks and their skew."""

    line: Moments
    tasks: int
    skew: float

    def cost(self, factor: float = 1.0) -> StageCost:
        """Return the cost of the stage, multiplied by ``factor``."""
        fixed_s, row_s = fitted_line(self.line)
        return StageCost(
            tasks=self.tasks,
            row_s=row_s * factor,
            task_s=fixed_s / self.tasks * factor,
            skew=min(self.skew, self.tasks),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentionFit:
    """What batches on different numbers of slots have shown of contention; JSON values only.

    Only consecutive sizes are compared, so that drifting costs cancel out, and with them the
    correlation of size and load.
    """

    largest: int = 1
    """Most slots of a batch; ``log_slots`` / ``weight`` is the mean logarithm of their number."""
    log_slots: float = 0.0
    weight: float = 0.0

    slots: int | None = None
    """The present size, the level of its log work, and its batches; then the previous size and
    level, and the moments of level over log(slots) between consecutive sizes."""
    level: float = 0.0
    batches: int = 0
    before: Sequence[float] | None = None
    squares: float = 0.0
    products: float = 0.0

    def curve(self, tuning: Tuning = TUNING) -> Contention:
        """Return the slowdown by the number of slots; at least one batch must be known."""
        exponent = min(max(self.products / (self.squares + tuning.contention_prior), 0.0), 0.5)
        among = math.exp(self.log_slots / self.weight)
        return Contention(exponent, tuning.clear_factor * self.largest, among)

    def with_slots(self, slots: int, tuning: Tuning = TUNING) -> ContentionFit:
        """Return the value after a batch on that many slots."""
        keep = 1 - tuning.batch_forget
        return replace(
            self,
            largest=max(slots, self.largest),
            log_slots=keep * self.log_slots + math.log(slots),
            weight=keep * self.weight + 1.0,
        )

    def with_work(self, slots: int, off: float, tuning: Tuning = TUNING) -> ContentionFit:
        """Return the value after a batch whose log work was ``off`` above its prediction without
        contention.
        """
        if slots != self.slots:
            before = [self.slots or 1, self.level] if self.batches >= tuning.few else None
            return replace(self, slots=slots, level=off, batches=1, before=before)
        count = self.batches + 1
        level = self.level + max(tuning.size_weight, 1 / count) * (off - self.level)
        squares, products = self.squares, self.products
        if count == tuning.few and self.before is not None:
            apart, keep = math.log(slots / self.before[0]), 1 - tuning.size_forget
            squares = keep * squares + apart * apart
            products = keep * products + apart * (level - self.before[1])
        return replace(self, level=level, batches=count, squares=squares, products=products)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """What the batches so far have shown; JSON values only."""

    staged: bool | None = None
    """Whether stages are observable; None before the first batch."""

    stages: Mapping[str, StageFit] = field(default_factory=dict)
    time: Moments = EMPTY
    """Line of the batch time over the run time of its tasks; without stages, over rows / slots."""

    contention: ContentionFit = field(default_factory=ContentionFit)
    bias: float = 0.0
    """Log factor on the model, and what it was when the stages were last read."""
    read_bias: float = 0.0
    variance: float = 0.15**2
    """Of log(batch time / model); a spread of 15 % until batches were predicted."""

    errors: Sequence[float] = ()
    """Absolute log errors of the last batches."""

    def with_batch(
        self,
        batch_s: float,
        rows: float,
        slots: int,
        stages: Sequence[Stage] | None,
        fresh: bool = True,
        tuning: Tuning = TUNING,
    ) -> Batches:
        """Return the value after one more batch; ``batch_s`` and ``rows`` must be above 0.

        ``stages`` may be those of an earlier batch, because a live job reports them less often than
        it has batches; their work is related to the rows that they read themselves. Until a batch
        shows which stages read sources, batch times are fitted. With ``fresh``
        False they were learned before, and only the duration of the batch counts.
        """
        measured = [stage for stage in stages or () if stage.busy_s and stage.tasks]
        readers = source_readers(measured)
        if not readers and not self.stages:
            measured = []
        if self.staged not in (None, bool(measured)):
            return Batches().with_batch(batch_s, rows, slots, stages, fresh, tuning)
        known, fits = self.identified(tuning), self.stages
        read = _rows_read(readers, rows) if measured else rows
        fresh = fresh and read > 0
        if fresh:
            fits = {
                stage.name: _with_stage(fits.get(stage.name), stage, read, tuning)
                for stage in measured
            }
        if measured and not fits:
            return self
        costs = [StageFit(*fit).cost() for fit in fits.values()]
        tasks_s = sum(cost.duration_s(rows, slots, 1.0) for cost in costs)
        work = tasks_s if measured else rows / slots
        contention = self.contention.with_slots(slots, tuning)
        if fresh:
            off = self._work(known, batch_s, read, slots, measured)
            contention = contention.with_work(slots, off, tuning)
        after = replace(
            self,
            staged=bool(measured),
            stages=fits,
            time=with_sample(self.time, work, batch_s, tuning.batch_forget),
            contention=contention,
        )
        if known is None:
            return after
        after = after.with_error(math.log(batch_s / known.model.batch_s(rows, slots)), tuning)
        if not (fresh and measured):
            return after
        # The new stage lines contain what the bias learned since the previous reading of stages.
        fitted = replace(after, bias=self.read_bias).fitted(tuning)
        off = math.log(batch_s / fitted.model.batch_s(rows, slots))
        bias = self.read_bias + tuning.batch_weight * off
        return replace(after, bias=bias, read_bias=bias)

    def identified(self, tuning: Tuning = TUNING) -> Identified | None:
        """Return the model fitted to the batches so far; None before the first."""
        return None if self.staged is None else self.fitted(tuning)

    def fitted(self, tuning: Tuning) -> Identified:
        """Return the model fitted to the batches so far, of which there must be one."""
        factor = math.exp(self.bias)
        if self.staged:
            fixed_s, slope = fitted_line(self.time, slope=1.0, least=tuning.least_slope)
            stages = tuple(StageFit(*fit).cost(slope * factor) for fit in self.stages.values())
        else:
            fixed_s, slope = fitted_line(self.time)
            # As many tasks as any number of slots shares evenly.
            stages = (StageCost(tasks=10_000, row_s=slope * factor),)
        errors = sorted(self.errors)
        return Identified(
            BatchModel(fixed_s, stages, self.contention.curve(tuning)),
            spread=math.sqrt(self.variance),
            error=errors[len(errors) // 2] if len(errors) == tuning.cases else None,
        )

    def _work(
        self,
        known: Identified | None,
        batch_s: float,
        rows: float,
        slots: int,
        measured: Sequence[Stage],
    ) -> float:
        """Return the log of a batch's work over its prediction without bias; without stages, the
        log of its slot-seconds per row without the fixed cost.
        """
        if not measured:
            fixed_s = known.model.fixed_s if known else 0.0
            return math.log(max(batch_s - fixed_s, 0.1 * batch_s) * slots / rows)
        if known is None:
            return 0.0
        busy_s = sum(stage.busy_s or 0.0 for stage in measured)
        expected_s = sum(
            cost.tasks * cost.task_s + cost.row_s * rows for cost in known.model.stages
        )
        return math.log(busy_s / max(expected_s, 1e-9)) + self.bias

    def with_error(self, off: float, tuning: Tuning) -> Batches:
        """Learn from a log error. A single outlier, such as of a busy machine, is clipped; a second
        one in a row counts in full.
        """
        clear, weight = math.log(tuning.clear_factor), tuning.batch_weight
        confirmed = bool(self.errors) and self.errors[-1] > clear
        counted = off if confirmed else max(-clear, min(off, clear))
        return replace(
            self,
            bias=self.bias + weight * counted,
            variance=self.variance + weight / 2 * (counted * counted - self.variance),
            errors=[*self.errors, abs(off)][-tuning.cases :],
        )


def _rows_read(readers: Sequence[Stage], rows: float) -> float:
    """Return the input rows of the batch that the stages belong to: those of ``readers``; ``rows``
    if they count none, and 0 without readers.
    """
    known = [stage.rows_in for stage in readers if stage.rows_in is not None]
    return sum(known) if known or not readers else rows


def _with_stage(before: StageFit | None, stage: Stage, rows: float, tuning: Tuning) -> StageFit:
    line, _, skew_before = before or (EMPTY, 1, 1.0)
    tasks, busy_s, skew = stage.tasks or 1, stage.busy_s or 0.0, 1.0
    if stage.task_max_s:
        # Spark rounds the run time of short tasks: one may appear longer than all tasks together.
        skew = min(tasks, max(1.0, stage.task_max_s * tasks / busy_s))
    share = tuning.batch_weight if before else 1.0
    line = with_sample(line, rows, busy_s, tuning.batch_forget)
    return StageFit(line, tasks, skew_before + share * (skew - skew_before))
