"""The binding constraint of a job that more slots would not make faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from rheostat.capacity.batch import BatchModel

Kind = Literal["fixed cost", "driver", "sink", "skew", "partitions", "rows limit", "contention"]

_GAIN = 0.05
"""More slots must shorten a batch by at least this share."""


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
) -> Bound | None:
    """Return the binding constraint if the next larger of ``sizes`` (in slots) shortens a batch by
    less than 5 %, otherwise None.

    ``parts_s`` are the phases of a batch by Spark's names; they separate the driver from the sink.
    """
    here_s = model.batch_s(rows, slots)
    more = [size for size in sizes if size > slots]
    if more and model.batch_s(rows, more[0]) < (1 - _GAIN) * here_s:
        return None
    longest = max(model.stages, key=lambda stage: stage.duration_s(rows, slots, 1.0), default=None)
    if longest is None or model.fixed_s > here_s / 2:
        reason = f"the fixed cost of a batch ({model.fixed_s:.1f} of {here_s:.1f} s) binds"
        return _of_fixed_cost(reason, model.fixed_s, parts_s)
    if longest.skew > 1.5 and slots >= longest.tasks / longest.skew:
        return Bound("skew", f"the largest task ({longest.skew:.1f} times a mean one) binds")
    if slots >= longest.tasks:
        return Bound("partitions", f"its {longest.tasks} tasks (partitions) bind", longest.tasks)
    if more and model.curve.slowdown(more[0]) <= model.curve.slowdown(slots):
        return None  # equally many waves, but unequal tasks fill more slots better
    return Bound("contention", "the slots wait for each other: contention binds")


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
