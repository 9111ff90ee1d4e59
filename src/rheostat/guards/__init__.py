"""Rules around any policy: functions (decision, observation, memory, now) -> (decision, memory), in one explicit order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rheostat.guards.bounds import Bounds
from rheostat.guards.cooldown import Cooldown
from rheostat.guards.stale_data import StaleData
from rheostat.model import Decision, GuardChange, Limits, Memory, Observation

__all__ = ["Bounds", "Cooldown", "Guard", "Guarded", "StaleData", "guard", "standard_guards"]


class Guard(Protocol):
    """A rule that may change a decision."""

    @property
    def name(self) -> str:
        """Return the name under which the journal keeps what this guard changed."""
        ...

    def __call__(self, decision: Decision, observation: Observation, memory: Memory, now: float) -> tuple[Decision, Memory]:
        """Return the decision, changed or not, and what to remember."""
        ...


@dataclass(frozen=True, slots=True)
class Guarded:
    """A decision after all guards, what each changed, and what they remember."""

    decision: Decision
    changes: tuple[GuardChange, ...]
    memory: Mapping[str, Memory]


def standard_guards(limits: Limits, cooldown: Cooldown | None = None, stale_data: StaleData | None = None) -> tuple[Guard, ...]:
    """Return the guards in their order: stale data first (it may undo a decision), then cooldown, bounds last (never crossed)."""
    return (stale_data or StaleData(), cooldown or Cooldown(), Bounds(limits))


def guard(guards: tuple[Guard, ...], decision: Decision, observation: Observation, memory: Mapping[str, Memory], now: float) -> Guarded:
    """Pass a decision through all guards in order."""
    changes: list[GuardChange] = []
    kept: dict[str, Memory] = {}
    for rule in guards:
        before = decision
        decision, kept[rule.name] = rule(before, observation, memory.get(rule.name, {}), now)
        if decision.target != before.target:
            changes.append(GuardChange(guard=rule.name, before=before.target, after=decision.target, reason=decision.reason))
    return Guarded(decision=decision, changes=tuple(changes), memory=kept)
