"""The load that micro-batches can sustain, by the batch model."""

from __future__ import annotations

import math

from rheostat.capacity.batch import MANY_ROWS, BatchModel


def capacity_rows_per_s(
    model: BatchModel, slots: int, interval_s: float = 0.0, max_rows: float | None = None
) -> float:
    """Return the highest rate at which the lag does not grow: ``max_rows`` per trigger interval, or
    without that limit 1 / work per row.
    """
    if max_rows is not None:
        return max_rows / max(interval_s, model.batch_s(max_rows, slots))
    marginal_s = model.batch_s(2 * MANY_ROWS, slots) - model.batch_s(MANY_ROWS, slots)
    marginal_s /= MANY_ROWS
    return 1 / marginal_s if marginal_s > 0 else math.inf
