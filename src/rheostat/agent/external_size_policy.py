"""A size that comes from outside (an HPA, KEDA, a person): as a policy, so that it takes the way
of every decision; and shadow as a guard, so that the journal says what was held back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.model import Decision, Memory, Observation, hold


@dataclass(frozen=True, slots=True)
class ExternalSizePolicy:
    """executors = what was asked for from outside; the size that stands where nothing was."""

    size: int | None = None

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size that was asked for."""
        if self.size is None:
            return hold(observation, "size kept: nobody has asked for one"), {}
        return Decision(target=self.size, reason=f"{self.size} asked for from outside"), {}


@dataclass(frozen=True, slots=True)
class Held:
    """Changes nothing, whatever was decided: the decision is an advice."""

    name: str = "shadow"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the size that stands."""
        size = observation.size or decision.target
        if size == decision.target and not decision.actions:
            return decision, {}
        reason = f"shadow mode: {decision.target} executors would do"
        return replace(decision, target=size, reason=reason, actions=()), {}
