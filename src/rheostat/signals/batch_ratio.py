"""R of SPARK-12133: the share of its interval that a batch takes."""

from __future__ import annotations

from rheostat.model import Observation


def batch_ratio(observation: Observation, slo_s: float) -> float | None:
    """Return R = batch time / interval (SPARK-12133, version 1); None if no batch is known.

    Half the SLO replaces the interval of back-to-back batches; a running batch counts with its time
    so far.
    """
    # A row waits for up to one batch and is in the next one: two batches must fit the objective.
    interval_s = observation.trigger_s or slo_s / 2
    running_s = observation.in_flight.elapsed_s if observation.in_flight else None
    longest_s = max((s for s in (observation.batch_s, running_s) if s is not None), default=None)
    return None if longest_s is None else longest_s / interval_s


def suspended_share(observation: Observation, slo_s: float) -> float | None:
    """Return the suspended share 0..1: Flink's backpressure, else 1 - 1/R for batch ratio R > 1."""
    if observation.backpressure_ms_per_s is not None:
        return min(1.0, observation.backpressure_ms_per_s / 1000)
    # A micro-batch engine reports no backpressure, but an overrunning batch has the same effect.
    ratio = batch_ratio(observation, slo_s)
    if ratio is None:
        return None
    return max(0.0, 1 - 1 / ratio) if ratio > 0 else 0.0
