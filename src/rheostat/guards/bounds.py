"""Bounds: floor and ceiling are never crossed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.model import Decision, Limits, Memory, Observation


@dataclass(frozen=True, slots=True)
class Bounds:
    """Clamps the target to the limits."""

    limits: Limits
    name: str = "bounds"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision within [min, max]."""
        low, high = self.limits.min_executors, self.limits.max_executors
        if decision.target < low:
            return (
                replace(decision, target=low, reason=f"{decision.reason}; min executors is {low}"),
                {},
            )
        if decision.target > high:
            return (
                replace(
                    decision, target=high, reason=f"{decision.reason}; max executors is {high}"
                ),
                {},
            )
        return decision, {}
