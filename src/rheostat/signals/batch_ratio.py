"""R of SPARK-12133: how much of its interval a batch takes."""

from __future__ import annotations

from rheostat.model import Observation


def batch_ratio(observation: Observation, slo_s: float) -> float | None:
    """Return R = batch time / interval; None where no batch is known.

    The interval is the trigger's; back-to-back batches have none, and half the latency objective
    replaces it. A batch that is still running counts with the time it has run, otherwise R is
    blind exactly when the job is late. Source: SPARK-12133, version 1.
    """
    # A row waits up to one batch and is then in the next: two batches within the objective.
    interval_s = observation.trigger_s or slo_s / 2
    running_s = observation.in_flight.elapsed_s if observation.in_flight else None
    longest_s = max((s for s in (observation.batch_s, running_s) if s is not None), default=None)
    return None if longest_s is None else longest_s / interval_s
