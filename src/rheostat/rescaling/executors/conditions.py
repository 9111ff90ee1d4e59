"""When each event of the table holds for an executor: one condition per event, and nothing else
decides.

The four tables are the looks of a step, in their order; each builds on what the one before has
changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from rheostat.rescaling.executors.executor_choice import Choice, Need, request_total
from rheostat.rescaling.executors.executor_states import Condition, ExecutorStates
from rheostat.rescaling.executors.state_plan import StatePlan


def _is_gone(roster: ExecutorStates, executor: str) -> bool:
    return executor not in roster.facts.registered


def _is_warm(roster: ExecutorStates, executor: str) -> bool:
    # Who holds state has run tasks of the query: no rehearsal adds to that.
    return executor in roster.facts.warm or roster.held(executor) > 0


def _is_spent(roster: ExecutorStates, executor: str) -> bool:
    return roster.boundary and roster.lives[executor].tries >= roster.waits.tries


def _is_complete(roster: ExecutorStates, plan: StatePlan, executor: str) -> bool:
    # Only at a boundary: in the middle of a batch a task may still report the state elsewhere.
    return _has_no_state_to_place(roster) or (
        roster.boundary and not plan.missing(executor, roster.facts.holders)
    )


def _is_handing(roster: ExecutorStates, plan: StatePlan, executor: str) -> bool:
    return any(roster.facts.holders.get(unit) == executor for unit in plan.sending)


def _is_empty(roster: ExecutorStates, executor: str) -> bool:
    """One that was chosen in this very step may still be sent a task by the batch that runs."""
    return not roster.facts.placing or (
        roster.boundary and not roster.took(executor, "chosen") and not roster.held(executor)
    )


def _is_retained(roster: ExecutorStates, executor: str) -> bool:
    """One that was to be replaced is not wanted in standby either."""
    lacking = roster.standby > 0 and len(roster.staying) < request_total(roster)
    return lacking and executor not in roster.replacing and _is_empty(roster, executor)


def _is_unseen(roster: ExecutorStates, executor: str) -> bool:
    # A batch that was planned before the hiding may still have put a task here.
    return roster.boundary and not (roster.facts.placing and roster.held(executor))


def _is_late(roster: ExecutorStates, executor: str) -> bool:
    return roster.waited_s(executor) >= roster.waits.of(roster.phase(executor))


def _can_be_warmed(roster: ExecutorStates) -> bool:
    return roster.facts.warmable and roster.facts.placing


def _has_no_state_to_place(roster: ExecutorStates) -> bool:
    return not roster.facts.placing or not roster.facts.holders


ARRIVALS: Mapping[str, Condition[None]] = {
    "registered": lambda roster, _, executor: not _is_gone(roster, executor),
    "lost": lambda roster, _, executor: _is_gone(roster, executor),
    "left": lambda roster, _, executor: _is_gone(roster, executor),
}

CHOICES: Mapping[str, Condition[Choice]] = {
    "chosen": lambda _, choice, executor: executor in choice.leaving,
    "kept": lambda _, choice, executor: executor in choice.kept,
}

READINESS: Mapping[str, Condition[Need]] = {
    "cold": lambda roster, _, __: _can_be_warmed(roster),
    "as it is": lambda roster, _, __: not _can_be_warmed(roster),
    "warmed": lambda roster, _, executor: _is_warm(roster, executor),
    "called": lambda _, need, executor: executor not in need.spare,
    "needed": lambda _, need, __: need.nobody_takes,
    "spent": lambda roster, _, executor: _is_spent(roster, executor),
}

PLACEMENT: Mapping[str, Condition[StatePlan]] = {
    "spare": lambda _, plan, executor: executor in plan.spare,
    "given": lambda _, plan, executor: executor in plan.sending.values(),
    "whole": _is_complete,
    "handed": _is_handing,
    "retained": lambda roster, _, executor: _is_retained(roster, executor),
    "empty": lambda roster, _, executor: _is_empty(roster, executor),
    "unseen": lambda roster, _, executor: _is_unseen(roster, executor),
    "late": lambda roster, _, executor: _is_late(roster, executor),
}
