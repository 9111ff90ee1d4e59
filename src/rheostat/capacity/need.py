"""Slots that a latency objective needs, in closed form."""

from __future__ import annotations

import math

from rheostat.capacity.batch import BatchModel

_STEPS = 12
"""Fixed-point iterations: work grows at most as the root of the slots, so each halves the error."""


def closed_form(
    model: BatchModel, rate_per_s: float, slo_s: float, trigger_s: float
) -> float | None:
    """Return the slots that a rate needs, with contention but without waves and skew; None if no
    number suffices.

    Back to back, p >= W rate / (1 - 2 F / L). With a trigger interval tau, p >= W rate tau /
    (min(tau, L - tau) - F), or as back to back if that is less and L >= 2 tau, because batches may
    then last longer than the interval.
    """
    work_s, fixed_s = rate_per_s * row_work_s(model), model.fixed_s
    needs = []
    if slo_s > max(2 * fixed_s, 2 * trigger_s):
        needs.append(work_s / (1 - 2 * fixed_s / slo_s))
    if trigger_s > 0 and (left_s := min(trigger_s, slo_s - trigger_s)) > fixed_s:
        needs.append(work_s * trigger_s / (left_s - fixed_s))
    if not needs:
        return None
    alone = needed = min(needs)
    for _ in range(_STEPS):  # W depends on the number of slots
        needed = alone * model.curve.slowdown(max(1.0, needed))
    return needed


def row_work_s(model: BatchModel) -> float:
    """Return W, the slot-seconds of a row through all stages."""
    return sum(stage.rows_in * stage.row_s for stage in model.stages)


def sustained_rows_per_s(
    model: BatchModel, slots: int, slo_s: float, trigger_s: float, longer: float = 1.0
) -> float:
    """Return the highest constant rate at which all rows are in time; 0 if there is none.

    A batch may last L - tau, and tau if batches must not queue. Longer batches run back to back and
    may last L / 2.
    """
    best = 0.0
    for lasts_s, every_s in (
        (min(trigger_s, slo_s - trigger_s), trigger_s),
        (slo_s / 2, slo_s / 2),
    ):
        if lasts_s > 0 and every_s >= trigger_s and every_s > 0:
            best = max(best, model.rows_within(lasts_s, slots, longer) / every_s)
    return best


def worth_having(model: BatchModel, most: int, rows: float) -> list[int]:
    """Return the numbers of slots up to ``most`` that are faster than each smaller one: with N
    tasks, ceil(N / j).
    """
    candidates = {1}
    for stage in model.stages:
        useful = range(1, min(stage.tasks, most) + 1)
        # Of the sizes with equally many waves only the smallest can be worth having.
        candidates |= {math.ceil(stage.tasks / math.ceil(stage.tasks / slots)) for slots in useful}
    sizes, best_s = [], math.inf
    for slots in sorted(candidates):
        batch_s = model.batch_s(rows, slots)
        if batch_s < best_s * (1 - 1e-9):
            sizes.append(slots)
            best_s = batch_s
    return sizes
