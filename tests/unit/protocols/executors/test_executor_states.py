"""Every pass of a step returns new states and leaves its argument unchanged."""

from __future__ import annotations

import copy

from rheostat.protocols.executors.executor_choice import with_choice, with_need
from rheostat.protocols.executors.executor_lifecycle import CHOICES, LIFE, READINESS, chosen
from rheostat.protocols.executors.executor_states import ExecutorStates, Facts, walk
from rheostat.protocols.executors.memory import Life, Memory, Waits
from rheostat.protocols.executors.transition import arrive, plan_of
from rheostat.protocols.orders import WarmUp


def arrived(target: int = 1, batch: int = 1, standby: int = 0, **phases: str) -> ExecutorStates:
    """Executors a, b, ... in given phases, each with the partition of its index, at a boundary."""
    lives = {executor: Life(phase, 10.0) for executor, phase in phases.items()}
    memory = Memory(lives=lives, batch=0, boundary_s=10.0)
    holders = {("q", n): executor for n, executor in enumerate(phases)}
    facts = Facts(now_s=20.0, registered=tuple(phases), holders=holders, batch=batch)
    return arrive(memory, facts, target, (), standby, Waits())


def test_a_transition_returns_new_states():
    before = arrived(a="ready", b="ready")
    after = before.take("b", next(row for row in LIFE.of("ready") if row.event == chosen))
    assert (before.phase("b"), after.phase("b")) == ("ready", "candidate")
    assert after.lives["b"] == Life("candidate", 20.0, units=1, left=1)
    assert (before.took("b", chosen), after.took("b", chosen)) == (False, True)


def test_an_executor_takes_one_transition_per_step_and_its_order_is_recorded():
    facts = Facts(now_s=20.0, registered=("a", "b"), warmable=True, warm=frozenset("b"))
    arrived_states = arrive(Memory(lives={"a": Life("ready", 10.0)}), facts, 1, (), 1, Waits())
    ready = walk(with_need(arrived_states), READINESS)
    assert (arrived_states.phase("b"), ready.phase("b")) == ("registered", "warming")
    assert (arrived_states.ordered(WarmUp), ready.ordered(WarmUp)) == ((), ("b",))


def test_every_pass_leaves_its_argument_unchanged():
    arrived_states = arrived(1, a="ready", b="ready", c="emptying")
    before = copy.deepcopy(arrived_states)
    after = walk(with_choice(arrived_states), CHOICES)
    plan_of(walk(with_need(after), READINESS), Memory())
    assert arrived_states == before
    assert after.lives != arrived_states.lives


def test_progress_of_an_emptying_executor_restarts_its_timeout():
    lives = {"a": Life("ready", 10.0), "b": Life("emptying", 10.0, units=4, left=2)}
    facts = Facts(now_s=20.0, registered=("a", "b"), holders={("q", 0): "b"})
    arrived_states = arrive(Memory(lives=lives), facts, 1, (), 0, Waits())
    assert arrived_states.lives["b"] == Life("emptying", 20.0, units=4, left=1)


def test_assignments_are_verified_only_at_a_batch_boundary():
    memory = Memory(
        lives={"a": Life("assigned", 10.0, tries=1)},
        batch=0,
        boundary_s=10.0,
        sent={("q", 0): "a"},
    )
    tries = []
    for holder, batch in ((None, 0), (None, 1), ("a", 1)):
        facts = Facts(now_s=20.0, registered=("a",), holders={("q", 0): holder}, batch=batch)
        tries.append(arrive(memory, facts, 1, (), 0, Waits()).lives["a"].tries)
    assert tries == [1, 2, 0]
