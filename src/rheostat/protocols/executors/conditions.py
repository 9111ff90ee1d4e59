"""When each event of the table holds for an executor: one condition per event, and nothing else
decides.

The four tables are the looks of a step, in their order; each builds on what the one before has
changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from rheostat.protocols.executors.executor_choice import Choice, Need, request_total
from rheostat.protocols.executors.executor_states import Condition, ExecutorStates
from rheostat.protocols.executors.state_plan import StatePlan


def _is_gone(states: ExecutorStates, executor: str) -> bool:
    return executor not in states.facts.registered


def _is_warm(states: ExecutorStates, executor: str) -> bool:
    # Who holds state has run tasks of the query: no warm-up adds to that.
    return executor in states.facts.warm or states.held(executor) > 0


def _is_spent(states: ExecutorStates, executor: str) -> bool:
    return states.boundary and states.lives[executor].tries >= states.waits.tries


def _is_complete(states: ExecutorStates, plan: StatePlan, executor: str) -> bool:
    # Only at a boundary: in the middle of a batch a task may still report the state elsewhere.
    return _has_no_state_to_place(states) or (
        states.boundary and not plan.missing(executor, states.facts.holders)
    )


def _is_handing(states: ExecutorStates, plan: StatePlan, executor: str) -> bool:
    return any(states.facts.holders.get(unit) == executor for unit in plan.sending)


def _is_empty(states: ExecutorStates, executor: str) -> bool:
    """One that was chosen in this very step may still be sent a task by the batch that runs."""
    return not states.facts.placing or (
        states.boundary and not states.took(executor, "chosen") and not states.held(executor)
    )


def _is_retained(states: ExecutorStates, executor: str) -> bool:
    """One that was to be replaced is not wanted in standby either."""
    lacking = states.standby > 0 and len(states.staying) < request_total(states)
    return lacking and executor not in states.replacing and _is_empty(states, executor)


def _is_unseen(states: ExecutorStates, executor: str) -> bool:
    # A batch that was planned before the hiding may still have put a task here.
    return states.boundary and not (states.facts.placing and states.held(executor))


def _is_late(states: ExecutorStates, executor: str) -> bool:
    return states.waited_s(executor) >= states.waits.of(states.phase(executor))


def _can_be_warmed(states: ExecutorStates) -> bool:
    return states.facts.warmable and states.facts.placing


def _has_no_state_to_place(states: ExecutorStates) -> bool:
    return not states.facts.placing or not states.facts.holders


ARRIVALS: Mapping[str, Condition[None]] = {
    "registered": lambda states, _, executor: not _is_gone(states, executor),
    "lost": lambda states, _, executor: _is_gone(states, executor),
    "left": lambda states, _, executor: _is_gone(states, executor),
}

CHOICES: Mapping[str, Condition[Choice]] = {
    "chosen": lambda _, choice, executor: executor in choice.leaving,
    "kept": lambda _, choice, executor: executor in choice.kept,
}

READINESS: Mapping[str, Condition[Need]] = {
    "cold": lambda states, _, __: _can_be_warmed(states),
    "as it is": lambda states, _, __: not _can_be_warmed(states),
    "warmed": lambda states, _, executor: _is_warm(states, executor),
    "called": lambda _, need, executor: executor not in need.spare,
    "needed": lambda _, need, __: need.none_takes,
    "spent": lambda states, _, executor: _is_spent(states, executor),
}

PLACEMENT: Mapping[str, Condition[StatePlan]] = {
    "spare": lambda _, plan, executor: executor in plan.spare,
    "assigned": lambda _, plan, executor: executor in plan.sending.values(),
    "complete": _is_complete,
    "handed": _is_handing,
    "retained": lambda states, _, executor: _is_retained(states, executor),
    "empty": lambda states, _, executor: _is_empty(states, executor),
    "unseen": lambda states, _, executor: _is_unseen(states, executor),
    "late": lambda states, _, executor: _is_late(states, executor),
}
