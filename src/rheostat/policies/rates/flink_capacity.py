"""The formulas of Flink's autoscaler: capacity, scale factor, partition alignment, scale-in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MODES = ("BALANCED", "EVENLY_SPREAD", "OFF")


@dataclass(frozen=True, slots=True)
class Demand:
    """The rows per second that a vertex must process; catch-up and restart time in seconds."""

    target: float
    catch_up: float
    catch_up_s: float
    restart_s: float

    def capacity(self, utilization: float, with_restart: bool) -> float:
        """Return catch-up rate + target x (restart / catch-up time + 1 / utilization), rounded."""
        if utilization <= 0:
            return math.inf
        restart = (
            self.target * self.restart_s / self.catch_up_s
            if with_restart and self.catch_up_s > 0
            else 0.0
        )
        # Half up, like Java's Math.round.
        return math.floor(self.catch_up + restart + self.target / min(utilization, 1.0) + 0.5)


def true_rate(busy_rate: float, observed: float | None, switch_threshold: float) -> float:
    """Return the rate by busy time, or the observed rate if the former is too much higher."""
    if observed is not None and (
        math.isinf(busy_rate) or busy_rate > observed * (1 + switch_threshold)
    ):
        # Too low a busy time (I/O waits) makes the rate too high; the observed rate is certain.
        return observed
    return busy_rate


def scaled(p: int, target: float, rate: float, max_down: float, max_up: float) -> int:
    """Return ceil(s x p) with s = target / rate, clamped to [1 - max_down, 1 + max_up]."""
    # An infinite rate (idle) gives 0, which the largest step down then limits.
    without_rate = math.inf if target > 0 else 0.0
    factor = target / rate if rate > 0 else without_rate
    return math.ceil(min(max(factor, 1 - max_down), 1 + max_up) * p)


def aligned(p_new: int, p: int, partitions: int, most: int, mode: str = "BALANCED") -> int:
    """Return the first size from ``p_new`` on that spreads N partitions better, limited by N and
    ``most`` (scaling in: by ``p``).

    BALANCED: the first q with N % q == 0 or floor(N / q) < floor(N / p_new), in closed form ceil(N
    / floor(N / p_new)). EVENLY_SPREAD: the first divisor of N.
    """
    end = min(partitions, most if p_new > p else p)
    if mode == "OFF" or not 1 <= p_new <= end:
        return p_new
    if mode == "BALANCED":
        candidate = math.ceil(partitions / (partitions // p_new))
    else:
        candidate = next((q for q in range(p_new, end + 1) if partitions % q == 0), p_new)
    return candidate if candidate <= end else p_new


def with_demand(
    recommendations: Sequence[tuple[float, int, bool]],
    t_s: float,
    size: int,
    outside: bool,
    window_s: float,
) -> list[Any]:
    """Return the window's recommendations (time, size, out of bounds), largest first."""
    return [
        *([t, p, out] for t, p, out in recommendations if t >= t_s - window_s and p > size),
        [t_s, size, outside],
    ]


def is_ineffective(rate: float, before: float, expected: float, threshold: float) -> bool:
    """Return whether a step out gained less than ``threshold`` of the expected rate increase."""
    return expected > before and (rate - before) / (expected - before) < threshold
