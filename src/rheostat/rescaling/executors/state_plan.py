"""Where the state should be, and which units are sent there in this step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from rheostat.rescaling.executors.executor_choice import taking
from rheostat.rescaling.executors.executor_lifecycle import ARRIVING
from rheostat.rescaling.executors.executor_states import ExecutorStates
from rheostat.rescaling.executors.memory import Memory
from rheostat.state.assignment import contiguous, minimal_movement, moves
from rheostat.state.fluid import next_moves, partitions_per_batch
from rheostat.state.units import Unit


@dataclass(frozen=True, slots=True)
class StatePlan:
    """Where every unit is wanted, the executors among which that is balanced, those that get none,
    and the units that are sent in this step.
    """

    wanted: Mapping[Unit, str]
    takers: tuple[str, ...]
    spare: Collection[str] = ()
    sending: Mapping[Unit, str] = field(default_factory=dict)

    def missing(self, executor: str, holders: Mapping[Unit, str | None]) -> int:
        """Return how many units an executor should hold and does not."""
        return sum(
            holders.get(unit) != executor
            for unit, wanted in self.wanted.items()
            if wanted == executor
        )


def plan_of(roster: ExecutorStates, idle: Collection[str], memory: Memory) -> StatePlan:
    """Return where every unit is wanted and what is sent now: at a boundary what the slack allows,
    units of lost executors at once.
    """
    known = StatePlan(memory.wanted, memory.takers, idle)
    takers = _takers(roster, idle)
    # Between boundaries only lost units move: a planned task would undo any other assignment.
    if not (roster.facts.placing and takers and (roster.boundary or roster.lost)):
        return known
    # Kept while it holds: a plan that is made anew halfway could want other units moved.
    plan = known if _still_holds(known, takers, roster) else _anew(takers, idle, roster)
    units = _at_boundary(roster, plan) if roster.boundary else _lost(roster, plan, memory)
    return replace(plan, sending={unit: plan.wanted[unit] for unit in units})


def sent(roster: ExecutorStates, plan: StatePlan, memory: Memory) -> dict[Unit, str]:
    """Return what has been sent since the last boundary."""
    # At a boundary what was sent before it has just been verified.
    return {**({} if roster.boundary else memory.sent), **plan.sending}


def _still_holds(plan: StatePlan, takers: tuple[str, ...], roster: ExecutorStates) -> bool:
    return set(takers) == set(plan.takers) and roster.facts.holders.keys() == plan.wanted.keys()


def _anew(takers: tuple[str, ...], idle: Collection[str], roster: ExecutorStates) -> StatePlan:
    return StatePlan(_shared_out(roster, takers), takers, idle)


def _takers(roster: ExecutorStates, idle: Collection[str]) -> tuple[str, ...]:
    """Return who shares the state: executors to be replaced only as long as the others are fewer
    than the target.
    """
    replaced, able = roster.replaced, taking(roster, idle)
    others = sum(executor not in replaced for executor in able)
    # The last ones keep their state until successors can take it: it never crowds on a few.
    still = replaced[: max(0, roster.target - others)]
    return tuple(executor for executor in able if executor not in replaced or executor in still)


def _shared_out(roster: ExecutorStates, takers: tuple[str, ...]) -> dict[Unit, str]:
    if roster.facts.ranges:
        return contiguous(tuple(roster.facts.holders), takers)
    return minimal_movement(_living(roster), takers, roster.facts.weights)


def _living(roster: ExecutorStates) -> dict[Unit, str | None]:
    return {
        # The coordinator remembers dead executors until another one reports the store.
        unit: holder if holder in roster.facts.registered else None
        for unit, holder in roster.facts.holders.items()
    }


def _at_boundary(roster: ExecutorStates, plan: StatePlan) -> tuple[Unit, ...]:
    holders = _living(roster)
    resting = {e for e in roster.those_in({"stuck"}) if roster.waited_s(e) < roster.waits.rest_s}
    wanted = {
        unit: to
        for unit, to in plan.wanted.items()
        # An executor in rest is left alone, but for units whose holder is leaving or gone.
        if to not in resting or holders[unit] not in plan.takers
    }
    # Those on the way out are emptied first: they are paid for as long as they hold state.
    first = [executor for executor in roster.lives if executor not in plan.takers]
    # Where pauses load the state, only executors on the way in need a ramp.
    young = roster.those_in(ARRIVING) if roster.facts.in_pause else None
    return next_moves(
        holders,
        wanted,
        partitions_per_batch(roster.facts.slack_s, roster.facts.load_s),
        first,
        young,
    )


def _lost(roster: ExecutorStates, plan: StatePlan, memory: Memory) -> list[Unit]:
    """An order that was given since the last boundary is not given again before the next."""
    lost = roster.lost
    return [
        unit
        for unit in moves(_living(roster), plan.wanted)
        if unit in lost and memory.sent.get(unit) != plan.wanted[unit]
    ]
