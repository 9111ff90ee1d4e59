"""The largest and the smallest value of a moving window."""

from __future__ import annotations

from rheostat.signals.statistics.windows import Samples


def highest(kept: Samples, now: float, value: float, window_s: float) -> list[tuple[float, float]]:
    """Return the samples to keep for the maximum of the last ``window_s`` seconds; the first is it.

    The window is open at its old end, as Kubernetes' recommendation window.
    """
    # An equal value is dropped as well: the newer one stays in the window for longer.
    return [*((t, v) for t, v in kept if now - window_s < t <= now and v > value), (now, value)]


def lowest(kept: Samples, now: float, value: float, window_s: float) -> list[tuple[float, float]]:
    """Return the same for the minimum: the first is the smallest value of the window."""
    return [*((t, v) for t, v in kept if now - window_s < t <= now and v < value), (now, value)]
