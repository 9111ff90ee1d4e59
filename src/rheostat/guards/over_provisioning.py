"""Over-provisioning: capacity beyond what a policy asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True, slots=True)
class OverProvisioning:
    """Enlarges a requested size by ``factor`` (rounded up); a scale-in stays one.

    A decision to keep the size is not changed, so that ticks do not accumulate.
    """

    factor: float = 0.2
    name: str = "over_provisioning"

    def __post_init__(self) -> None:
        if not self.factor >= 0:
            raise BadInput(
                f"over-provisioning's factor must be at least 0, but it is {self.factor}"
            )

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision with its target enlarged."""
        current, decided = observation.size, decision.target
        if current is None or decided == current:
            return decision, {}
        # Rounded first: 50 x 1.1 is 55 and not 55.00000000000001, which would become 56.
        larger = math.ceil(round(decided * (1 + self.factor), 9))
        target = larger if decided > current else min(current, larger)
        if target == decided:
            return decision, {}
        reason = f"{decision.reason}; {self.factor:.0%} over-provisioned"
        return replace(decision, target=target, reason=reason), {}
