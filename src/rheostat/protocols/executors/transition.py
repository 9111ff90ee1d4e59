"""Computes one step of a rescale: from memory and facts to new memory, orders and status.

Pure, level-triggered and safe to restart: every step reconciles the target, the next facts show
whether a step was carried out, and the memory consists of JSON values (without it the facts nearly
always suffice: registered executors keep their role).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from rheostat.model import Rescaling
from rheostat.protocols.executors.executor_choice import (
    request_total,
    taking,
    with_choice,
    with_need,
)
from rheostat.protocols.executors.executor_lifecycle import (
    ARRIVALS,
    CHOICES,
    LIFE,
    PLACEMENT,
    READINESS,
)
from rheostat.protocols.executors.executor_states import ExecutorStates, Facts, StatePlan, walk
from rheostat.protocols.executors.memory import ARRIVING, KEEPABLE, Life, Memory, Waits
from rheostat.protocols.executors.status_text import describe
from rheostat.protocols.orders import Assign, Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.state.assignment import Unit, contiguous, minimal_movement, moves
from rheostat.state.fluid import next_moves, partitions_per_batch


def plan_of(states: ExecutorStates, memory: Memory) -> StatePlan:
    """Return the desired location of every unit and the units to send now: at a boundary as many as
    the slack allows, units of lost executors at once.
    """
    known = StatePlan(memory.wanted, memory.takers)
    takers = _takers(states)
    # Between boundaries only lost units move: a planned task would undo any other assignment.
    if not (states.facts.placing and takers and (states.boundary or states.lost)):
        return known
    # Kept while valid: a new plan in the middle of the moves could require other moves.
    plan = known if _still_holds(known, takers, states) else _rebalanced_plan(takers, states)
    units = _at_boundary(states, plan) if states.boundary else _lost(states, plan, memory)
    return replace(plan, sending={unit: plan.wanted[unit] for unit in units})


def sent(states: ExecutorStates, memory: Memory) -> dict[Unit, str]:
    """Return the units sent since the last boundary."""
    # At a boundary the units sent before it have just been verified.
    return {**({} if states.boundary else memory.sent), **states.plan.sending}


def _still_holds(plan: StatePlan, takers: tuple[str, ...], states: ExecutorStates) -> bool:
    return set(takers) == set(plan.takers) and states.facts.holders.keys() == plan.wanted.keys()


def _rebalanced_plan(takers: tuple[str, ...], states: ExecutorStates) -> StatePlan:
    if states.facts.ranges:
        return StatePlan(contiguous(tuple(states.facts.holders), takers), takers)
    return StatePlan(minimal_movement(_living(states), takers, states.facts.weights), takers)


def _takers(states: ExecutorStates) -> tuple[str, ...]:
    """Return the executors that share the state: those to be replaced only as long as the others
    are fewer than the target.
    """
    replaced, able = states.replaced, taking(states)
    others = sum(executor not in replaced for executor in able)
    # The last ones keep their state until successors can take it: it never lies on too few.
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
        # A resting executor gets only units whose holder is leaving or gone.
        if to not in resting or holders[unit] not in plan.takers
    }
    # Leaving executors are emptied first: they cost money as long as they hold state.
    first = [executor for executor in states.lives if executor not in plan.takers]
    # If pauses load the state, only arriving executors need a ramp.
    young = states.those_in(ARRIVING) if states.facts.in_pause else None
    return next_moves(
        holders,
        wanted,
        partitions_per_batch(states.facts.slack_s, states.facts.load_s),
        first,
        young,
    )


def _lost(states: ExecutorStates, plan: StatePlan, memory: Memory) -> list[Unit]:
    """Return the lost units to send now, each once between two boundaries."""
    lost = states.lost
    return [
        unit
        for unit in moves(_living(states), plan.wanted)
        if unit in lost and memory.sent.get(unit) != plan.wanted[unit]
    ]


__all__ = ["Memory", "Step", "advance"]


@dataclass(frozen=True, slots=True)
class Step:
    """The result of a step."""

    memory: Memory
    orders: tuple[Order, ...]
    rescaling: Rescaling


def advance(
    memory: Memory,
    facts: Facts,
    target: int,
    to_replace: Collection[str] = (),
    standby: int = 0,
    waits: Waits = Waits(),  # noqa: B008
) -> Step:
    """Take one step towards ``target`` executors and ``standby`` more without state, and replace
    the executors in ``to_replace``.

    Every step requests the total again. State is assigned only in steps right after a batch
    boundary, that of lost executors at once. ``to_replace`` need only be passed once: it is
    remembered until the executor is gone or its replacement is abandoned.
    """
    arrived = arrive(memory, facts, target, to_replace, standby, waits)
    # Candidates are chosen before state is assigned, or state would be sent to one of them.
    chosen = walk(with_choice(arrived), CHOICES)
    # Readiness before the plan: an executor that became warm in this step receives state at once.
    ready = walk(with_need(chosen), READINESS)
    placed = walk(replace(ready, plan=plan_of(ready, memory)), PLACEMENT)
    return Step(_remembered(placed, memory), _orders(placed), describe(placed))


def _orders(states: ExecutorStates) -> tuple[Order, ...]:
    """Return the total and the orders of this step's rows, combined for all executors."""
    receiving, sending = states.ordered(Assign), states.plan.sending
    # The plan contains all units; only executors whose row gave the order receive theirs.
    units = {unit: executor for unit, executor in sending.items() if executor in receiving}
    several = [(order, states.ordered(order)) for order in (Hide, Decommission, Kill)]
    return (
        # First, because Spark replaces a leaving executor while the total is higher.
        Request(request_total(states)),
        *([Assign(units)] if units else []),
        *map(WarmUp, states.ordered(WarmUp)),
        *(order(executors) for order, executors in several if executors),
    )


def _remembered(states: ExecutorStates, memory: Memory) -> Memory:
    facts = states.facts
    since_s = None if states.boundary else memory.boundary_s
    return Memory(
        lives={executor: life for executor, life in states.lives.items() if life.phase != LIFE.end},
        batch=facts.batch,
        # min: after the clock was set back, the next boundary must not wait for the old time.
        boundary_s=facts.now_s if since_s is None else min(since_s, facts.now_s),
        wanted=states.plan.wanted,
        takers=states.plan.takers,
        sent=sent(states, memory),
        replacing=states.replacing,
    )


def arrive(
    memory: Memory,
    facts: Facts,
    target: int,
    to_replace: Collection[str],
    standby: int,
    waits: Waits,
) -> ExecutorStates:
    """Return the state of every executor after it registered, was removed or was verified;
    ``to_replace`` are the executors to replace.
    """
    states = ExecutorStates(
        facts=facts,
        target=target,
        standby=standby,
        waits=waits,
        lives=_lives(memory, facts),
        boundary=_is_boundary(memory, facts, waits),
        replacing=_replacing(memory, facts, to_replace, waits),
    )
    came = walk(states, ARRIVALS)
    lives = {
        executor: _verified(came, memory.sent, executor, _progressed(came, executor, life))
        for executor, life in came.lives.items()
    }
    return replace(came, lives=lives)


def _lives(memory: Memory, facts: Facts) -> dict[str, Life]:
    """Return the lives of all executors; after the clock was set back, a start in the future
    becomes now, so that nothing is late or early.
    """
    known = {
        executor: replace(life, since_s=min(life.since_s, facts.now_s))
        for executor, life in memory.lives.items()
    }
    new = {
        executor: Life("requested", facts.now_s)
        for executor in facts.registered
        if executor not in known
    }
    return {**known, **new}


def _is_boundary(memory: Memory, facts: Facts, waits: Waits) -> bool:
    if memory.boundary_s is None:
        return False  # the first observation may fall into the middle of a batch
    # Any other number is a boundary, including None, when the last query has ended.
    return facts.batch != memory.batch or (
        facts.batch is None and facts.now_s - memory.boundary_s >= waits.idle_s
    )


def _replacing(
    memory: Memory, facts: Facts, to_replace: Collection[str], waits: Waits
) -> dict[str, float]:
    """Return the replacements in progress; an abandoned one is forgotten after the same time again,
    so that it can be requested once more.
    """
    known = {
        executor: min(since_s, facts.now_s)
        for executor, since_s in memory.replacing.items()
        # For one ``replace_s`` it waits for a successor, for another it stays abandoned.
        if executor in facts.registered and facts.now_s - since_s < 2 * waits.replace_s
    }
    new = [executor for executor in to_replace if executor in facts.registered]
    return {**known, **{executor: facts.now_s for executor in new if executor not in known}}


def _progressed(states: ExecutorStates, executor: str, life: Life) -> Life:
    """Return the life, with its clock restarted if a leaving executor holds fewer units."""
    # Without progress the clock continues, so that state that never moves cannot hold a draining
    # candidate forever.
    if life.phase not in KEEPABLE or states.held(executor) >= life.left:
        return life
    return replace(life, since_s=states.facts.now_s, left=states.held(executor))


def _verified(states: ExecutorStates, sent: Mapping[Unit, str], executor: str, life: Life) -> Life:
    """Verify at a boundary what was sent before it: an executor that kept all of it resets its
    tries.
    """
    if not states.boundary or executor not in sent.values():
        return life
    holders = states.facts.holders
    # Units of a query that has ended in the meantime do not count.
    theirs = [unit for unit, to in sent.items() if to == executor and unit in holders]
    stayed = all(holders[unit] == executor for unit in theirs)
    return replace(life, tries=0 if stayed else life.tries + 1)
