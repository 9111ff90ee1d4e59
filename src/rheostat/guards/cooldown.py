"""Cooldown: after a change of size, wait before the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.signals.last_resize import latest_size, resized


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Holds the size after an executed change: ``out_s`` before a scale-out, ``in_s`` before a
    scale-in.

    Requests that are not carried out start no cooldown. (Koper §4.6 uses 120 and 240 s for jobs
    that restart.)
    """

    out_s: float = 10.0
    in_s: float = 60.0
    name: str = "cooldown"

    def __post_init__(self) -> None:
        for which, value in (("out_s", self.out_s), ("in_s", self.in_s)):
            if value < 0:
                raise BadInput(f"cooldown {which} must be 0 seconds or more, but it is {value}")

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the current target while the cooldown lasts."""
        at_s, change = resized(observation, memory)
        # Executors register later; the time of the decision is what a user expects to count from.
        changed_s = at_s if change else memory.get("changed_s")
        kept = {"seen": latest_size(observation), "changed_s": changed_s}
        current = observation.size
        if current is None or changed_s is None or decision.target == current:
            return decision, kept
        left_s = (self.out_s if decision.target > current else self.in_s) - (now - changed_s)
        # A clock that was put back must not hold for hours.
        if left_s <= 0 or now < changed_s:
            return decision, kept
        reason = f"{decision.reason}; cooling down for {left_s:.0f} s more"
        return replace(decision, target=current, reason=reason), kept
