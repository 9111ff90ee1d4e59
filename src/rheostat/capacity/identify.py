"""The batch model of a running job, learned from its batches: cost per row, per task and per batch.

The work of a stage is the run time of its tasks, a line over the rows whose intercept is the fixed
cost of the tasks. Batch times are not regressed on sizes, because the policy chooses the sizes by
the load, so both are collinear. A job whose stages are not observable has a single stage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.model import Stage

Learnt: TypeAlias = Mapping[str, Any]
"""State of the learner: JSON values only."""

_FORGET = 0.02
"""A batch counts half after 35 batches: rows whose cost doubles within an hour are followed."""

_LEVEL = 0.2
"""Weight of a batch in the bias; half of it in the spread."""
_ERRORS = 5
_OUTLIER = math.log(1.5)
_LEAST_SLOPE = 0.75
"""Least slope of batch time over task time, because a batch ends after its tasks. At one size and a
constant rate noise may show a slope of 0, with which executors would make no difference."""
_FLUID = 10_000
"""Tasks of a batch whose stages are not observable: any number of slots shares them evenly."""
_WIDE = 0.15
"""Initial spread of batch times; twice this if stages are not observable."""


@dataclass(frozen=True, slots=True)
class Identified:
    """A batch model and its errors."""

    model: BatchModel
    spread: float
    """Standard deviation of log(batch time / model)."""

    error: float | None
    """Median absolute log error of the last five batches; None before there were five."""


def with_batch(
    learnt: Learnt,
    batch_s: float,
    rows: float,
    slots: int,
    stages: Sequence[Stage] | None,
    fresh: bool = True,
) -> dict[str, Any]:
    """Return the state after one more batch; ``batch_s`` and ``rows`` must be above 0.

    ``stages`` may be those of an earlier batch, because a live job is asked for them less often
    than it has batches; their work is related to the rows that they read themselves. With ``fresh``
    False they were learned before, and only the duration of the batch counts.
    """
    measured = [stage for stage in stages or () if stage.busy_s and stage.tasks]
    if learnt.get("staged", bool(measured)) != bool(measured):
        learnt = {}
    known = identified(learnt)
    costs = learnt.get("stages", {})
    read = _rows_read(measured, rows) if measured else rows
    fresh = fresh and read > 0
    if fresh:
        costs = {stage.name: _with_stage(costs.get(stage.name), stage, read) for stage in measured}
    if measured and not costs:
        return dict(learnt)
    x = (
        sum(_cost(cost).duration_s(rows, slots, 1.0) for cost in costs.values())
        if measured
        else rows / slots
    )
    updated: dict[str, Any] = {
        **learnt,
        "stages": costs,
        "staged": bool(measured),
        "time": with_sample(learnt.get("time", EMPTY), x, batch_s, _FORGET),
        "largest": max(slots, learnt.get("largest", 1)),
    }
    log_slots, count = learnt.get("among", (0.0, 0.0))
    keep = 1 - _FORGET
    updated["among"] = [keep * log_slots + math.log(slots), keep * count + 1.0]
    if fresh:
        work = _work(learnt, known, batch_s, read, slots, measured)
        updated["contention"] = with_work(learnt.get("contention", {}), slots, work)
    if known is not None:
        updated |= _with_error(learnt, math.log(batch_s / known.model.batch_s(rows, slots)))
        if fresh and measured:
            updated |= _rebased(learnt, updated, batch_s, rows, slots)
    return updated


def _rebased(
    learnt: Learnt, updated: Learnt, batch_s: float, rows: float, slots: int
) -> dict[str, Any]:
    """Return the bias relative to the new stage lines, which already contain what the bias learned
    since the previous reading of the stages.
    """
    before = learnt.get("read_bias", 0.0)
    known = identified({**updated, "bias": before})
    off = math.log(batch_s / known.model.batch_s(rows, slots)) if known else 0.0
    bias = before + _LEVEL * off
    return {"bias": bias, "read_bias": bias}


def _rows_read(stages: Sequence[Stage], rows: float) -> float:
    """Return the input rows of the batch that the stages belong to: those of the stages without
    upstream stages; ``rows`` if unknown.
    """
    names = {stage.name for stage in stages}
    first = [stage.rows_in for stage in stages if not names & set(stage.upstream)]
    known = [rows_in for rows_in in first if rows_in is not None]
    return sum(known) if known else rows


def _work(
    learnt: Learnt,
    known: Identified | None,
    batch_s: float,
    rows: float,
    slots: int,
    measured: Sequence[Stage],
) -> float:
    """Return the log of a batch's work over its prediction without bias; without stages, the log of
    its slot-seconds per row without the fixed cost.
    """
    fixed_s = known.model.fixed_s if known else 0.0
    if not measured:
        return math.log(max(batch_s - fixed_s, 0.1 * batch_s) * slots / rows)
    if known is None:
        return 0.0
    busy_s = sum(stage.busy_s or 0.0 for stage in measured)
    expected_s = sum(cost.tasks * cost.task_s + cost.row_s * rows for cost in known.model.stages)
    return float(math.log(busy_s / max(expected_s, 1e-9)) + learnt.get("bias", 0.0))


def identified(learnt: Learnt) -> Identified | None:
    """Return the model fitted to the batches so far; None before the first."""
    if "time" not in learnt:
        return None
    staged, factor = learnt["staged"], math.exp(learnt.get("bias", 0.0))
    fixed_s, slope = through(
        learnt["time"], slope=1.0 if staged else None, least=_LEAST_SLOPE if staged else 0.0
    )
    stages = (
        tuple(_cost(stage, slope * factor) for stage in learnt["stages"].values())
        if staged
        else (StageCost(tasks=_FLUID, row_s=slope * factor),)
    )
    errors = sorted(learnt.get("errors", ()))
    wide = _WIDE if staged else 2 * _WIDE
    log_slots, count = learnt.get("among", (0.0, 1.0))
    among = math.exp(log_slots / count)
    shared = contention(learnt.get("contention", {}), learnt["largest"], among)
    return Identified(
        BatchModel(fixed_s, stages, shared),
        spread=math.sqrt(learnt.get("variance", wide * wide)),
        error=errors[len(errors) // 2] if len(errors) == _ERRORS else None,
    )


def _with_stage(cost: Learnt | None, stage: Stage, rows: float) -> dict[str, Any]:
    before = cost or {"line": EMPTY, "skew": 1.0}
    busy_s = stage.busy_s or 0.0
    skew = 1.0
    if stage.tasks and stage.busy_s and stage.task_max_s:
        # Spark rounds the run time of short tasks: one may appear longer than all tasks together.
        skew = min(stage.tasks, max(1.0, stage.task_max_s * stage.tasks / stage.busy_s))
    share = _LEVEL if cost else 1.0
    return {
        "line": with_sample(before["line"], rows, busy_s, _FORGET),
        "tasks": stage.tasks,
        "skew": before["skew"] + share * (skew - before["skew"]),
    }


def _cost(learnt: Learnt, factor: float = 1.0) -> StageCost:
    tasks = learnt["tasks"]
    fixed_s, row_s = through(learnt["line"])
    return StageCost(
        tasks=tasks,
        row_s=row_s * factor,
        task_s=fixed_s / tasks * factor,
        skew=min(learnt["skew"], tasks),
    )


def _with_error(learnt: Learnt, off: float) -> dict[str, Any]:
    """Return bias, spread and errors after a batch with the log error ``off``. A single outlier,
    such as of a busy machine, is clipped; a second one in a row counts in full.
    """
    variance = learnt.get("variance", _WIDE * _WIDE)
    errors = learnt.get("errors", ())
    confirmed = bool(errors) and errors[-1] > _OUTLIER
    counted = off if confirmed else max(-_OUTLIER, min(off, _OUTLIER))
    return {
        "bias": learnt.get("bias", 0.0) + _LEVEL * counted,
        "variance": variance + _LEVEL / 2 * (counted * counted - variance),
        "errors": [*errors, abs(off)][-_ERRORS:],
    }


_RIDGE = 0.04
"""Weight of the prior, no contention: (4 % error of a comparison / expected exponent 0.2) squared.
Measured curves have exponents of 0.2 to 0.25."""

_FORGET_SIZE = 0.1
"""Share of the earlier comparisons of two sizes that a new one replaces."""

_SIZE_LEVEL = 0.3
"""Weight of a batch in the log work at a size."""

_SETTLED = 3
"""Batches after which a size is compared with the previous one."""


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


def with_work(learnt: Learnt, slots: int, off: float) -> dict[str, Any]:
    """Return the state after a batch whose log work was ``off`` above its prediction without
    contention.

    Only consecutive sizes are compared, so that drifting costs cancel out, and with them the
    correlation of size and load.
    """
    updated = {**learnt}
    if slots != learnt.get("slots"):
        known = learnt.get("count", 0) >= _SETTLED
        updated["before"] = [learnt["slots"], learnt["level"]] if known else None
        updated |= {"slots": slots, "level": off, "count": 1}
        return updated
    updated["count"] = learnt["count"] + 1
    weight = max(_SIZE_LEVEL, 1 / updated["count"])
    updated["level"] = learnt["level"] + weight * (off - learnt["level"])
    if updated["count"] == _SETTLED and (before := learnt["before"]) is not None:
        apart = math.log(slots / before[0])
        squares, products = learnt.get("moments", (0.0, 0.0))
        updated["moments"] = [
            (1 - _FORGET_SIZE) * squares + apart * apart,
            (1 - _FORGET_SIZE) * products + apart * (updated["level"] - before[1]),
        ]
    return updated


def contention(learnt: Learnt, largest: int, among: float = 1.0) -> Contention:
    """Return the slope of log(work) over log(slots), shrunk towards 0; flat beyond 1.5 times the
    ``largest`` observed size.
    """
    squares, products = learnt.get("moments", (0.0, 0.0))
    return Contention(min(max(products / (squares + _RIDGE), 0.0), 0.5), 1.5 * largest, among)


Moments: TypeAlias = Sequence[float]
"""Sums of 1, x, x^2, y and x y over the samples, weighted with 1 / y^2 and by age, and the number
of samples that are not forgotten."""

EMPTY: Moments = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_PRIOR = 1.0
"""Weight of the prior, in samples."""


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


def through(
    moments: Moments, slope: float | None = None, least: float = 0.0
) -> tuple[float, float]:
    """Return (intercept, slope) of the line; the intercept is at least 0, the slope at least
    ``least``.

    The prior is ``slope`` if given, otherwise an intercept of 0: samples at a single x are
    attributed to the slope. Without samples the prior is returned.
    """
    ones, xs, squares, ys, products, count = moments
    if count <= 0 or squares <= 0:
        return 0.0, slope or 0.0
    share = _PRIOR / count
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
