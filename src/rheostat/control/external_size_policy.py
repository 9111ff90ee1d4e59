"""Sizes from outside: an external size (HPA, KEDA, a person) as a policy, a guard against two
alternating writers, and shadow mode as a guard.

These are ordinary policies and guards, so the journal records their decisions as usual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.model import Decision, Memory, Observation, hold

WITHIN_S, _MOST = 60.0, 3
"""The size of a single HPA, which decides every 15 s, goes down and up again at most twice per
minute, so it is never held.
"""


@dataclass(frozen=True, slots=True)
class ExternalSizePolicy:
    """Requests the external ``size``; keeps the current size before the first request."""

    size: int | None = None

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the requested size."""
        if self.size is None:
            return hold(observation, "size kept: no size was requested yet"), {}
        return Decision(
            target=self.size, reason=f"{self.size} requested through the control API"
        ), {}


@dataclass(frozen=True, slots=True)
class Held:
    """Keeps the current size: the decision is only a recommendation (shadow mode)."""

    name: str = "shadow"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision with the current size as its target."""
        size = observation.size or decision.target
        if size == decision.target and not decision.actions:
            return decision, {}
        reason = f"shadow mode: {decision.target} executors recommended"
        return replace(decision, target=size, reason=reason, actions=()), {}


@dataclass(frozen=True, slots=True)
class FlapGuard:
    """Blocks scale-in after the size went down and up again ``most`` times within ``within_s``.

    If two controllers write the size alternately, once a second, it therefore changes at most 7
    times per minute. Scale-out and scale-in in several steps stay possible: a job that is too large
    only costs more, one that is too small falls behind.
    """

    most: int = _MOST
    within_s: float = WITHIN_S
    name: str = "turns"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or hold the current size; the memory has the times of flaps."""
        size = observation.size
        if size is None:
            return decision, memory
        kept = self._updated(size, memory, now)
        turns = len(kept["turns"])
        if turns < self.most or decision.target >= size:
            return decision, kept
        reason = (
            f"{decision.reason}; held at {size}: the size went down and up again {turns} times"
            f" within {self.within_s:g} s; check whether a second controller writes it"
        )
        return replace(decision, target=size, reason=reason), kept

    def _updated(self, size: int, memory: Memory, now: float) -> Memory:
        before, shrank = memory.get("size", size), memory.get("shrank", False)
        # A future time means that the clock was set back; it must not hold the size for hours.
        turns = [at_s for at_s in memory.get("turns", ()) if 0 <= now - at_s < self.within_s]
        if size > before and shrank:
            turns.append(now)
        if size != before:
            shrank = size < before
        return {"size": size, "shrank": shrank, "turns": turns}
