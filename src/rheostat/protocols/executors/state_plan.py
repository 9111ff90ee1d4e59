"""Where the state should be, and which units are sent there in this step."""

from __future__ import annotations

from dataclasses import replace

from rheostat.protocols.executors.executor_choice import taking
from rheostat.protocols.executors.executor_states import ExecutorStates, StatePlan
from rheostat.protocols.executors.memory import ARRIVING, Memory
from rheostat.state.assignment import contiguous, minimal_movement, moves
from rheostat.state.fluid import next_moves, partitions_per_batch
from rheostat.state.units import Unit


def plan_of(states: ExecutorStates, memory: Memory) -> StatePlan:
    """Return where every unit is wanted and what is sent now: at a boundary what the slack allows,
    units of lost executors at once.
    """
    known = StatePlan(memory.wanted, memory.takers)
    takers = _takers(states)
    # Between boundaries only lost units move: a planned task would undo any other assignment.
    if not (states.facts.placing and takers and (states.boundary or states.lost)):
        return known
    # Kept while it holds: a plan that is computed again halfway could want other units moved.
    plan = known if _still_holds(known, takers, states) else _rebalanced_plan(takers, states)
    units = _at_boundary(states, plan) if states.boundary else _lost(states, plan, memory)
    return replace(plan, sending={unit: plan.wanted[unit] for unit in units})


def sent(states: ExecutorStates, memory: Memory) -> dict[Unit, str]:
    """Return what has been sent since the last boundary."""
    # At a boundary what was sent before it has just been verified.
    return {**({} if states.boundary else memory.sent), **states.plan.sending}


def _still_holds(plan: StatePlan, takers: tuple[str, ...], states: ExecutorStates) -> bool:
    return set(takers) == set(plan.takers) and states.facts.holders.keys() == plan.wanted.keys()


def _rebalanced_plan(takers: tuple[str, ...], states: ExecutorStates) -> StatePlan:
    if states.facts.ranges:
        return StatePlan(contiguous(tuple(states.facts.holders), takers), takers)
    return StatePlan(minimal_movement(_living(states), takers, states.facts.weights), takers)


def _takers(states: ExecutorStates) -> tuple[str, ...]:
    """Return who shares the state: executors to be replaced only as long as the others are fewer
    than the target.
    """
    replaced, able = states.replaced, taking(states)
    others = sum(executor not in replaced for executor in able)
    # The last ones keep their state until successors can take it: it never crowds on a few.
    still = replaced[: max(0, states.target - others)]
    return tuple(executor for executor in able if executor not in replaced or executor in still)


def _living(states: ExecutorStates) -> dict[Unit, str | None]:
    return {
        # The coordinator remembers dead executors until another one reports the store.
        unit: holder if holder in states.facts.registered else None
        for unit, holder in states.facts.holders.items()
    }


def _at_boundary(states: ExecutorStates, plan: StatePlan) -> tuple[Unit, ...]:
    holders = _living(states)
    resting = {e for e in states.those_in({"stuck"}) if states.waited_s(e) < states.waits.rest_s}
    wanted = {
        unit: to
        for unit, to in plan.wanted.items()
        # An executor in rest is left alone, but for units whose holder is leaving or gone.
        if to not in resting or holders[unit] not in plan.takers
    }
    # Those on the way out are emptied first: they are paid for as long as they hold state.
    first = [executor for executor in states.lives if executor not in plan.takers]
    # Where pauses load the state, only executors on the way in need a ramp.
    young = states.those_in(ARRIVING) if states.facts.in_pause else None
    return next_moves(
        holders,
        wanted,
        partitions_per_batch(states.facts.slack_s, states.facts.load_s),
        first,
        young,
    )


def _lost(states: ExecutorStates, plan: StatePlan, memory: Memory) -> list[Unit]:
    """An order is given once between two boundaries."""
    lost = states.lost
    return [
        unit
        for unit in moves(_living(states), plan.wanted)
        if unit in lost and memory.sent.get(unit) != plan.wanted[unit]
    ]
