"""The binding constraint of a job that more slots would not make faster."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from rheostat.capacity.batch import BatchModel
from rheostat.tuning import TUNING, Tuning

Kind = Literal["fixed cost", "driver", "sink", "skew", "partitions", "rows limit", "contention"]

_SPARE = 1.25
"""A proposed limit of rows over the arrivals of a trigger interval."""


class Bound(NamedTuple):
    """The binding constraint: its kind, and a clause that follows "because"."""

    kind: Kind
    reason: str
    tasks: int | None = None
    """The number of parallel tasks, if that is the constraint."""


def binding(
    model: BatchModel,
    rows: float,
    slots: int,
    sizes: Sequence[int],
    parts_s: Mapping[str, float] | None = None,
    tuning: Tuning = TUNING,
) -> Bound | None:
    """Return the binding constraint if the next larger of ``sizes`` (in slots) hardly shortens a
    batch, otherwise None.

    ``parts_s`` are the phases of a batch by Spark's names; they separate the driver from the sink.
    """
    here_s = model.batch_s(rows, slots)
    more = [size for size in sizes if size > slots]
    if more and model.batch_s(rows, more[0]) < (1 - tuning.resolution) * here_s:
        return None
    longest = max(model.stages, key=lambda stage: stage.duration_s(rows, slots, 1.0), default=None)
    if longest is None or model.fixed_s > here_s / 2:
        reason = f"the fixed cost of a batch ({model.fixed_s:.1f} of {here_s:.1f} s) binds"
        return _of_fixed_cost(reason, model.fixed_s, parts_s)
    if longest.skew > tuning.clear_factor and slots >= longest.tasks / longest.skew:
        return Bound("skew", f"the largest task ({longest.skew:.1f} times a mean one) binds")
    if slots >= longest.tasks:
        return Bound("partitions", f"its {longest.tasks} tasks (partitions) bind", longest.tasks)
    if more and model.curve.slowdown(more[0]) <= model.curve.slowdown(slots):
        return None  # equally many waves, but unequal tasks fill more slots better
    return Bound("contention", "the slots wait for each other: contention binds")


def larger_limit(
    model: BatchModel,
    limit: int,
    rate_per_s: float,
    trigger_s: float,
    sizes: Sequence[int],
    slots: int = 1,
) -> tuple[int, int | None]:
    """Return a limit of rows per batch that lets a backlog shrink, rounded to two digits, and the
    fewest of ``sizes`` (of ``slots`` each) that process as many rows within the trigger interval;
    None if none does.
    """
    wanted = _SPARE * max(limit, rate_per_s * trigger_s)
    step = 10 ** max(0, math.floor(math.log10(wanted)) - 1)
    rows = math.ceil(wanted / step) * step
    fitting = (size for size in sizes if model.batch_s(rows, size * slots) <= trigger_s)
    return rows, next(fitting, None)


def raise_limit(rows: int, executors: int | None, trigger_s: float) -> str:
    """Return the advice to raise a limit of rows, with the executors that it needs."""
    if executors is None:
        return f"no size processes {rows:,} rows within the trigger interval of {trigger_s:g} s"
    return (
        f"set maxOffsetsPerTrigger to {rows:,} and allow {executors} executors, which process as"
        f" many within the trigger interval of {trigger_s:g} s"
    )


def _of_fixed_cost(reason: str, fixed_s: float, parts_s: Mapping[str, float] | None) -> Bound:
    """Return whether the driver or the sink causes the fixed cost."""
    if not parts_s:
        return Bound("fixed cost", reason)
    driver = {
        name: part_s
        for name, part_s in parts_s.items()
        if name not in ("addBatch", "triggerExecution")
    }
    driver_s = sum(driver.values())
    if driver_s >= fixed_s / 2:
        largest = sorted(driver, key=lambda name: -driver[name])[:2]
        parts = ", ".join(f"{name} {driver[name]:.2f} s" for name in largest)
        return Bound("driver", f"{reason}: {driver_s:.2f} s of it is the driver's ({parts})")
    return Bound(
        "sink",
        f"{reason}: {fixed_s - driver_s:.2f} s of it are outside the tasks, in the commit of the"
        " sink and the scheduling of stages",
    )
