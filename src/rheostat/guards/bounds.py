"""Bounds: floor and ceiling are never crossed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.model import Decision, Limits, Memory, Observation


@dataclass(frozen=True, slots=True)
class Bounds:
    """Clamps the target to the limits.

    With ``follows`` the ceiling is a default that rises to the largest size the application has
    had.
    """

    limits: Limits
    follows: bool = False
    name: str = "bounds"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision within [min, max]; a ceiling that follows is remembered."""
        low, high = self.limits.min_executors, self.limits.max_executors
        kept: Memory = {}
        if self.follows:
            # Remembered: after a scale-in the ceiling must not follow the smaller size down.
            high = max(high, memory.get("high", high), observation.size or 0)
            kept = {"high": high}
        if decision.target < low:
            reason = f"{decision.reason}; min executors is {low}"
            return replace(decision, target=low, reason=reason), kept
        if decision.target > high:
            reason = f"{decision.reason}; max executors is {high}"
            return replace(decision, target=high, reason=reason), kept
        return decision, kept
