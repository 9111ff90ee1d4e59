"""Samples of the throughput that sizes had under lag, when it was the most that they could do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rheostat.signals.statistics.windows import Samples, at_most_quantile, within

Throughput: TypeAlias = Mapping[str, Samples]
"""By number of executors, as text, the (t_s, rows per second) that were measured; JSON values."""


def with_sample(
    known: Throughput, executors: int, sample: tuple[float, float], most: int
) -> dict[str, Samples]:
    """Return the samples with one more of a size, at most so many of it."""
    size = str(executors)
    return {**known, size: [*known.get(size, ()), sample][-most:]}


def fresh(known: Throughput, now_s: float, memory_s: float) -> dict[str, Samples]:
    """Return the samples that are not older than ``memory_s``; sizes without any are left out."""
    return {size: left for size, kept in known.items() if (left := within(kept, now_s, memory_s))}


def per_executor_of(
    known: Throughput, recent: Sequence[float], executors: int, quantile: float
) -> tuple[float | None, int]:
    """Return rows per second and executor, and the number of samples under lag behind it: a
    quantile of those of the nearest size, at least that of ``recent`` batches, lag or not.
    """
    bound = at_most_quantile(recent, quantile) if recent else 0.0
    # The bound of the last batches, lag or not: all there is before the first lag.
    if not known:
        return bound or None, 0
    # Near as a ratio: 2 is as far from 4 as 4 from 8.
    nearest = min(known, key=lambda size: (abs(math.log(int(size) / executors)), int(size)))
    rates = [rate for _, rate in known[nearest]]
    return max(bound, at_most_quantile(rates, quantile) / int(nearest)), len(rates)
