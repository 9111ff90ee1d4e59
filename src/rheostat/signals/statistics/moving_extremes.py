"""The largest and the smallest value of a moving window, in as few samples as there are distinct
values.
"""

from __future__ import annotations

from rheostat.signals.statistics.windows import Samples


def highest(kept: Samples, now: float, value: float, window_s: float) -> list[tuple[float, float]]:
    """Return what must be kept for the maximum of the last ``window_s`` seconds, the new value
    included; the first is the maximum.

    A sample that a newer one reaches is never the maximum again, so only falling values are kept.
    The window is open at its old end (Kubernetes' recommendation window); samples of the future (a
    clock that was put back) are forgotten.
    """
    # An equal value is dropped as well: the newer one stays in the window for longer.
    return [*((t, v) for t, v in kept if now - window_s < t <= now and v > value), (now, value)]


def lowest(kept: Samples, now: float, value: float, window_s: float) -> list[tuple[float, float]]:
    """Return the same for the minimum: the first is the smallest value of the window."""
    return [*((t, v) for t, v in kept if now - window_s < t <= now and v < value), (now, value)]
