"""Step limits: no more than so many executors at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True, slots=True)
class StepLimits:
    """Limits a decision to ``out`` executors more and ``in_`` fewer; None is no limit."""

    out: int | None = None
    in_: int | None = None
    name: str = "step_limits"

    def __post_init__(self) -> None:
        for which, value in (("out", self.out), ("in_", self.in_)):
            if value is not None and value < 1:
                raise BadInput(f"step limit {which} must be at least 1 executor, but it is {value}")

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the furthest size within one step."""
        current = observation.size
        if current is None:
            return decision, {}
        target, limit = decision.target, ""
        if self.out is not None and target > current + self.out:
            target, limit = current + self.out, f"{self.out} more"
        if self.in_ is not None and target < current - self.in_:
            target, limit = current - self.in_, f"{self.in_} fewer"
        if not limit:
            return decision, {}
        reason = f"{decision.reason}; at most {limit} at a time"
        return replace(decision, target=target, reason=reason), {}
