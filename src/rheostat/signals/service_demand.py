"""Service demand: the slot-seconds that a row costs, by the utilization law."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rheostat.model import Observation
from rheostat.signals.true_rates import is_known, needs

_KEPT = 21
"""Number of estimates whose median is used, so that a garbage collection has no effect."""


def arrivals_per_s(observation: Observation) -> float | None:
    """Return the rows per second that arrive, summed over the sources; None where unknown."""
    rate = observation.input_rows_per_s
    if rate is None and observation.inputs:
        rate = sum(observation.inputs.values())
    return rate if is_known(rate) else None


def slot_s_per_row(observation: Observation) -> float | None:
    """Return busy slot-seconds per row (LibReDE, Spinner et al., 2015); None if unknown."""
    rate, demand = arrivals_per_s(observation), needs(observation)
    if not rate or not demand.operators:
        return None
    # A demand of 0 is no estimate: it says that the stages were idle.
    return sum(operator.slots for operator in demand.operators) / rate or None


def with_demand(demands: Sequence[float], observation: Observation) -> list[float]:
    """Return the last estimates, with that of an observation where it has one."""
    demand = slot_s_per_row(observation)
    return [*demands, *([] if demand is None else [demand])][-_KEPT:]


def demand_of(demands: Sequence[float]) -> float | None:
    """Return the slot-seconds of a row by the last estimates; None before the first."""
    return median(demands) if demands else None
