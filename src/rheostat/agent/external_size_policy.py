"""A size that comes from outside (an HPA, KEDA, a person): as a policy, so that it takes the way
of every decision; and shadow as a guard, so that the journal says what was held back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.model import Decision, Memory, Observation, hold

WITHIN_S, _MOST = 60.0, 3
"""An HPA looks every 15 s, so its size goes down and up again twice in a minute at most: one that
is alone is never held.
"""


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


@dataclass(frozen=True, slots=True)
class FlapGuard:
    """Scales in no more where the size went down and up again ``most`` times within ``within_s``.

    A size that is written by two controllers in turn, each second, so changes 7 times in a minute
    at most (three times down and up, and the next down as the first turn is forgotten). Growth is
    never held, and neither is a shrink in several steps: a job that is too large costs, one that
    is too small falls behind.
    """

    most: int = _MOST
    within_s: float = WITHIN_S
    name: str = "turns"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the size that stands; remembers when the size grew again."""
        size = observation.size
        if size is None:
            return decision, memory
        kept = self._updated(size, memory, now)
        turns = len(kept["turns"])
        if turns < self.most or decision.target >= size:
            return decision, kept
        reason = (
            f"{decision.reason}; held at {size}: down and up again {turns} times within"
            f" {self.within_s:g} s, so does somebody else write the size, too?"
        )
        return replace(decision, target=size, reason=reason), kept

    def _updated(self, size: int, memory: Memory, now: float) -> Memory:
        before, shrank = memory.get("size", size), memory.get("shrank", False)
        # A time in the future is of a clock that was put back, and must not hold for hours.
        turns = [at_s for at_s in memory.get("turns", ()) if 0 <= now - at_s < self.within_s]
        if size > before and shrank:
            turns.append(now)
        if size != before:
            shrank = size < before
        return {"size": size, "shrank": shrank, "turns": turns}
