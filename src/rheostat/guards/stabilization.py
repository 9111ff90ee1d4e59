"""Stabilization: do not follow what was asked for a moment only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.signals.statistics.moving_extremes import highest, lowest


@dataclass(frozen=True, slots=True)
class Stabilization:
    """Scales in to the largest size requested in the last ``in_s`` seconds, out to the smallest in
    ``out_s``, as Kubernetes' HorizontalPodAutoscaler.
    """

    out_s: float = 0.0
    in_s: float = 300.0
    name: str = "stabilization"

    def __post_init__(self) -> None:
        for which, value in (("out_s", self.out_s), ("in_s", self.in_s)):
            if not value >= 0:
                raise BadInput(
                    f"stabilization {which} must be 0 seconds or more, but it is {value}"
                )

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision or the size its window allows."""
        current = observation.size
        if current is None:
            return decision, memory
        # Begun with the size that was found: right after a start no window is full, and none may
        # shrink.
        high = highest(memory.get("high") or [(now, current)], now, decision.target, self.in_s)
        low = lowest(memory.get("low") or [(now, current)], now, decision.target, self.out_s)
        # First up to what was asked for throughout, then down to what was asked for at most.
        target = int(min(max(current, low[0][1]), high[0][1]))
        window = (
            f"the last {self.in_s if target > decision.target else self.out_s:g} s asked for"
            f" {target}"
        )
        changed = (
            decision
            if target == decision.target
            else replace(decision, target=target, reason=f"{decision.reason}; {window}")
        )
        return changed, {"high": high, "low": low}
