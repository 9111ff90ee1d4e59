"""A policy whose errors and invalid results become one-line messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.ports import Policy


@dataclass(frozen=True, slots=True)
class Checked:
    """Calls a policy and raises BadInput if it fails; ``name`` is the user's name for the policy.

    For runs that end at the first error: replays and simulations. A live job continues at its size
    (``Loop.run``).
    """

    policy: Policy
    name: str

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the policy's result; raises BadInput if it fails or returns no Decision."""
        try:
            answer: Any = self.policy.decide(observation, memory)
        except BadInput:
            raise
        except Exception as fault:
            message = " ".join(str(fault).split()) or "no message"
            raise BadInput(
                f"policy {self.name} failed at {observation.t_s:.15g} s: {type(fault).__name__}:"
                f" {message}"
            ) from fault
        if wrong := _wrong(answer):
            raise BadInput(
                f"policy {self.name} must return a Decision and what it remembers, at"
                f" {observation.t_s:.15g} s it returned {wrong}"
            )
        decision, kept = answer
        return decision, kept


def _wrong(answer: Any) -> str:
    """Return what is wrong with a result; empty if it is valid."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        return repr(answer)[:80]
    decision, kept = answer
    if not isinstance(decision, Decision):
        return f"{repr(decision)[:80]} for the Decision"
    # True is an int in Python, but a target of one executor was probably not intended.
    if not isinstance(decision.target, int) or isinstance(decision.target, bool):
        return f"{decision.target!r} executors, which is no whole number"
    return "" if isinstance(kept, Mapping) else f"{repr(kept)[:80]} for what it remembers"
