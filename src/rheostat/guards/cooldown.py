"""Guards that delay a change: cooldown and stabilization window."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.signals.last_resize import latest_size, resized
from rheostat.signals.statistics.windows import highest, lowest


@dataclass(frozen=True, slots=True)
class Stabilization:
    """Scales in to the largest size requested in the last ``in_s`` seconds and out to the smallest
    in ``out_s``, like Kubernetes' HorizontalPodAutoscaler.
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
        """Return the decision, or the size that its window allows."""
        current = observation.size
        if current is None:
            return decision, memory
        # The windows begin with the current size, so that a start does not scale in before they are
        # full.
        high = highest(memory.get("high") or [(now, current)], now, decision.target, self.in_s)
        low = lowest(memory.get("low") or [(now, current)], now, decision.target, self.out_s)
        # First raise to the smallest request of the window, then limit to the largest one.
        target = int(min(max(current, low[0][1]), high[0][1]))
        kept = {"high": high, "low": low}
        if target == decision.target:
            return decision, kept
        window_s = self.in_s if target > decision.target else self.out_s
        reason = f"{decision.reason}; the last {window_s:g} s asked for {target}"
        return replace(decision, target=target, reason=reason), kept


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Keeps the size after an executed change: for ``out_s`` before a scale-out, ``in_s`` before a
    scale-in.

    Requests that are not executed start no cooldown. (Koper §4.6 uses 120 and 240 s for jobs that
    restart.)
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
        # Users count from the time of the decision, although the executors register later.
        changed_s = at_s if change else memory.get("changed_s")
        kept = {"seen": latest_size(observation), "changed_s": changed_s}
        current = observation.size
        if current is None or changed_s is None or decision.target == current:
            return decision, kept
        left_s = (self.out_s if decision.target > current else self.in_s) - (now - changed_s)
        # A clock that was set back must not extend the cooldown by hours.
        if left_s <= 0 or now < changed_s:
            return decision, kept
        reason = f"{decision.reason}; cooling down for {left_s:.0f} s more"
        return replace(decision, target=current, reason=reason), kept
