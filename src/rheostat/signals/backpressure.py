"""Backpressure: the share of time in which a busy job takes no rows in."""

from __future__ import annotations

from rheostat.model import Observation
from rheostat.signals.batch_ratio import batch_ratio


def suspended_share(observation: Observation, slo_s: float) -> float | None:
    """Return 0..1: Flink's backpressure, else 1 - 1/R for a batch ratio R > 1."""
    if observation.backpressure_ms_per_s is not None:
        return min(1.0, observation.backpressure_ms_per_s / 1000)
    # A micro-batch engine reports no backpressure, but a batch that overruns has the same effect.
    ratio = batch_ratio(observation, slo_s)
    return None if ratio is None else max(0.0, 1 - 1 / ratio) if ratio > 0 else 0.0
