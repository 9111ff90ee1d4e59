"""One step of a rescale: memory and facts in; new memory, orders and status out.

Pure, level-triggered, restart-safe: every step reconciles the target, the next facts show whether a
step was carried out, and the memory is plain JSON values (without it the facts suffice nearly
always: registered executors are taken as they are).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rheostat.model import Rescaling
from rheostat.protocols.executors.arrival import arrive
from rheostat.protocols.executors.conditions import CHOICES, PLACEMENT, READINESS
from rheostat.protocols.executors.executor_choice import choice_of, need_of, request_total
from rheostat.protocols.executors.executor_lifecycle import LIFE
from rheostat.protocols.executors.executor_states import ExecutorStates, walk
from rheostat.protocols.executors.facts import Facts
from rheostat.protocols.executors.memory import Memory
from rheostat.protocols.executors.phase_limits import Waits
from rheostat.protocols.executors.state_plan import StatePlan, plan_of, sent
from rheostat.protocols.executors.status_text import describe
from rheostat.protocols.orders import Assign, Decommission, Hide, Kill, Order, Request, WarmUp

__all__ = ["Memory", "Step", "advance"]


@dataclass(frozen=True, slots=True)
class Step:
    """What a step leaves behind."""

    memory: Memory
    orders: tuple[Order, ...]
    rescaling: Rescaling


def advance(
    memory: Memory,
    facts: Facts,
    target: int,
    replace: Collection[str] = (),
    standby: int = 0,
    waits: Waits = Waits(),  # noqa: B008
) -> Step:
    """Take one step towards ``target`` executors and ``standby`` more without state, with those in
    ``replace`` exchanged for others.

    Every step asks for the total again. State is assigned only in steps right after a batch
    boundary, that of lost executors at once. ``replace`` need be passed once: it is remembered
    until the executor is gone or its replacement is abandoned.
    """
    arrived = arrive(memory, facts, target, replace, standby, waits)
    # Candidates are chosen before state is assigned, or state would be sent to one of them.
    chosen = walk(arrived, CHOICES, choice_of(arrived))
    need = need_of(chosen)
    # Readiness before the plan: an executor that became warm in this step gets state at once.
    ready = walk(chosen, READINESS, need)
    plan = plan_of(ready, need.spare, memory)
    placed = walk(ready, PLACEMENT, plan)
    return Step(_remembered(placed, plan, memory), _orders(placed, plan), describe(placed, plan))


def _orders(states: ExecutorStates, plan: StatePlan) -> tuple[Order, ...]:
    """Return the total, and what the transitions of this step order, together for all executors."""
    receiving = states.ordered("Assign")
    # The plan names all; only those whose transition has ordered it are sent anything.
    units = {unit: executor for unit, executor in plan.sending.items() if executor in receiving}
    several = (
        order(executors)
        for order in (Hide, Decommission, Kill)
        if (executors := states.ordered(order.__name__))
    )
    return (
        # First of all orders: an executor that is let go while the total is higher is replaced by
        # Spark.
        Request(request_total(states)),
        *([Assign(units)] if units else []),
        *map(WarmUp, states.ordered("WarmUp")),
        *several,
    )


def _remembered(states: ExecutorStates, plan: StatePlan, memory: Memory) -> Memory:
    facts = states.facts
    since_s = None if states.boundary else memory.boundary_s
    return Memory(
        lives={executor: life for executor, life in states.lives.items() if life.phase != LIFE.end},
        batch=facts.batch,
        # min: a clock that was put back must not make the next boundary wait for its old time.
        boundary_s=facts.now_s if since_s is None else min(since_s, facts.now_s),
        wanted=plan.wanted,
        takers=plan.takers,
        sent=sent(states, plan, memory),
        replacing=states.replacing,
    )
