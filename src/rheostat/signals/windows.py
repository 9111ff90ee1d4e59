"""Windows over samples ``(t_s, value)``, oldest first: least-squares slope, mean and growth per second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

Samples: TypeAlias = Sequence[tuple[float, float]]


def within(samples: Samples, now: float, window_s: float) -> list[tuple[float, float]]:
    """Return the samples of the last ``window_s`` seconds, ``now`` included."""
    return [(t, value) for t, value in samples if now - window_s <= t <= now]


def mean(samples: Samples) -> float | None:
    """Return the unweighted mean of the values (PromQL ``avg_over_time``); None without samples."""
    return sum(value for _, value in samples) / len(samples) if samples else None


def deriv(samples: Samples) -> float | None:
    """Return the least-squares slope per second (PromQL ``deriv``); None with fewer than two distinct times."""
    if len(samples) < 2:
        return None
    origin = samples[0][0]
    mean_t = sum(t - origin for t, _ in samples) / len(samples)
    mean_v = sum(value for _, value in samples) / len(samples)
    spread = sum((t - origin - mean_t) ** 2 for t, _ in samples)
    if spread == 0:
        return None
    return sum((t - origin - mean_t) * (value - mean_v) for t, value in samples) / spread


def growth_per_s(samples: Samples) -> float | None:
    """Return (last - first) / elapsed of a counter that only grows; None with fewer than two times or after a reset."""
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        return None
    gained = samples[-1][1] - samples[0][1]
    return gained / (samples[-1][0] - samples[0][0]) if gained >= 0 else None


def at_most_quantile(values: Sequence[float], q: float) -> float:
    """Return the value at or below the quantile ``q`` (0..1; numpy's ``lower``), so that one freak among few is never it.

    ``values`` holds at least one.
    """
    return sorted(values)[math.floor(q * (len(values) - 1))]
