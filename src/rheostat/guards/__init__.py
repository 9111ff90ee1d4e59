"""Ordered rules after a policy: (decision, observation, memory, now) -> (decision, memory)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rheostat.config import GuardOptions, LoopOptions
from rheostat.guards.bounds import Bounds, OverProvisioning, RealTime, ReceiverRoom, StepLimits
from rheostat.guards.budget import Budget
from rheostat.guards.cooldown import Cooldown, Stabilization
from rheostat.guards.reversal import Reversal
from rheostat.guards.schedule import ExcludedPeriods, Schedule
from rheostat.guards.stale_data import StaleData
from rheostat.guards.undo import Undo
from rheostat.model import Decision, GuardChange, Limits, Memory, Observation

__all__ = [
    "Bounds",
    "Budget",
    "Cooldown",
    "ExcludedPeriods",
    "Guard",
    "Guarded",
    "OverProvisioning",
    "RealTime",
    "ReceiverRoom",
    "Reversal",
    "Schedule",
    "Stabilization",
    "StaleData",
    "StepLimits",
    "Undo",
    "guard",
    "guards_of",
    "standard_guards",
]


class Guard(Protocol):
    """A rule that may change a decision."""

    @property
    def name(self) -> str:
        """Return the name under which the journal records the changes of this guard."""

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, changed or unchanged, and the new memory."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A decision after all guards, their changes, and their memory by name."""

    decision: Decision
    changes: tuple[GuardChange, ...]
    memory: Mapping[str, Memory]


def standard_guards(
    limits: Limits,
    cooldown: Cooldown | None = None,
    stale_data: StaleData | None = None,
    *,
    over_provisioning: OverProvisioning | None = None,
    stabilization: Stabilization | None = None,
    undo: Undo | None = None,
    step_limits: StepLimits | None = None,
    budget: Budget | None = None,
    excluded_periods: ExcludedPeriods | None = None,
    schedule: Schedule | None = None,
    reversal: Reversal | None = None,
    ceiling_follows: bool = False,
) -> tuple[Guard, ...]:
    """Return the guards in their fixed order, including those that always apply."""
    # Stale data is the last of the four: whatever the others compute from old numbers, the size is
    # kept.
    adjusting = (over_provisioning, stabilization, undo, stale_data or StaleData())
    limiting = (
        step_limits,
        budget,
        excluded_periods,
        reversal,
        cooldown or Cooldown(),
        ReceiverRoom(),
        RealTime(),
        schedule,
        # Bounds is last, so that nothing an earlier guard raises, such as the receivers' room,
        # exceeds the maximum.
        Bounds(limits, ceiling_follows),
    )
    return tuple(rule for rule in (*adjusting, *limiting) if rule is not None)


def guards_of(
    limits: Limits,
    options: GuardOptions,
    loop: LoopOptions | None = None,
    ceiling_follows: bool = False,
) -> tuple[Guard, ...]:
    """Return the guards that the options enable; without ``loop`` (a recording) there is no
    cooldown.

    ``ceiling_follows``: see ``Bounds``. Raises BadInput for an option out of range.
    """
    factor = options.over_provisioning
    windows_s = (options.stabilization_out_s, options.stabilization_in_s)
    steps = (options.step_out or None, options.step_in or None)
    sizes = (str(options.floor), str(options.ceiling))
    rules = standard_guards(
        limits,
        Cooldown(out_s=loop.cooldown_out_s, in_s=loop.cooldown_in_s) if loop else None,
        StaleData(after_s=loop.stale_after_s) if loop else None,
        over_provisioning=OverProvisioning(factor) if factor else None,
        stabilization=Stabilization(*windows_s) if any(windows_s) else None,
        undo=Undo() if options.undo else None,
        step_limits=StepLimits(*steps) if any(steps) else None,
        budget=Budget(options.budget, limits.min_executors) if options.budget else None,
        excluded_periods=ExcludedPeriods(str(options.excluded)) if options.excluded else None,
        schedule=Schedule(*sizes) if any(sizes) else None,
        reversal=Reversal(loop.reversal_hold_s) if loop and loop.reversal_hold_s else None,
        ceiling_follows=ceiling_follows,
    )
    # Another controller made the changes of a recording, so they start no cooldown for this policy.
    return rules if loop else tuple(rule for rule in rules if not isinstance(rule, Cooldown))


def guard(
    guards: tuple[Guard, ...],
    decision: Decision,
    observation: Observation,
    memory: Mapping[str, Memory],
    now: float,
) -> Guarded:
    """Pass a decision through all guards in order."""
    changes: list[GuardChange] = []
    kept: dict[str, Memory] = {}
    for rule in guards:
        before = decision
        # Every guard runs at every tick, also without a change, because its memory must see each
        # tick.
        decision, kept[rule.name] = rule(before, observation, memory.get(rule.name, {}), now)
        if decision.target != before.target:
            changes.append(
                GuardChange(
                    guard=rule.name,
                    before=before.target,
                    after=decision.target,
                    reason=decision.reason,
                )
            )
    return Guarded(decision=decision, changes=tuple(changes), memory=kept)
