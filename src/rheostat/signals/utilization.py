"""The share of time in which executors are in use, in two definitions."""

from __future__ import annotations

from rheostat.model import Observation

DEFINITIONS = ("varga", "koper")


def utilization(observation: Observation, definition: str) -> float | None:
    """Return 0..1; None where neither busy nor idle time is known.

    ``varga`` (eq. 5, Flink 1.12) counts busy time only, ``koper`` (eq. 3.4, Flink 1.14) also
    backpressure. For Spark both are ``busy``.
    """
    blocked = (observation.backpressure_ms_per_s or 0.0) / 1000
    if definition == "varga":
        used = (
            observation.busy if observation.busy is not None else _rest(observation.idle, blocked)
        )
    else:
        used = (
            _rest(observation.idle, 0.0)
            if observation.idle is not None
            else _sum(observation.busy, blocked)
        )
    # Busy and idle are means of different windows, so their sum may miss 1 a little.
    return None if used is None else min(1.0, max(0.0, used))


def _rest(idle: float | None, blocked: float) -> float | None:
    return None if idle is None else 1 - idle - blocked


def _sum(busy: float | None, blocked: float) -> float | None:
    return None if busy is None else busy + blocked
