"""The status of a rescale as text."""

from __future__ import annotations

from collections.abc import Collection

from rheostat.model import Rescaling
from rheostat.plural import counted
from rheostat.protocols.executors.executor_choice import request_total, spare
from rheostat.protocols.executors.executor_states import ExecutorStates
from rheostat.protocols.executors.memory import ARRIVING, GOING, KEEPABLE
from rheostat.state.assignment import Unit, moves
from rheostat.state.fluid import too_big


def describe(states: ExecutorStates) -> Rescaling:
    """Return the phase and a text: the work in progress, what it waits for, and its obstacles."""
    coming = (
        _waiting(states),
        _standby_waiting(states),
        _not_replaced(states),
        _warming(states),
        _moving(states),
        _settling(states),
    )
    parts = (
        *coming,
        *_emptying(states),
        _leaving(states),
        _standing_by(states),
        _move_too_long(states),
        _stuck(states),
        _slots(states),
    )
    return Rescaling(phase=_phase(states), detail="; ".join(part for part in parts if part))


def _phase(states: ExecutorStates) -> str:
    # In order of importance: missing capacity before surplus, and both before moves.
    if _lacking(states) > 0 or states.those_in(ARRIVING):
        return "growing"
    if (
        states.those_in(KEEPABLE | GOING)
        or len(states.facts.registered) > states.target + states.standby
    ):
        return "shrinking"
    if states.those_in({"rebalancing"}):
        return "balancing"
    return "blocked" if states.those_in({"stuck"}) else "steady"


def _lacking(states: ExecutorStates) -> int:
    """Return the number of executors missing for the target; those missing for the standby do not
    count.
    """
    # Idle executors do not count, because standby ones do not serve the target.
    return states.target + len(states.replaced) - (len(states.staying) - len(spare(states)))


def _waiting(states: ExecutorStates) -> str:
    lacking, total = _lacking(states), request_total(states) - states.standby
    purpose = f" to replace {_named(states.replaced)}" if states.replaced else ""
    return f"waiting for {lacking} of {total} executors{purpose}" if lacking > 0 else ""


def _standby_waiting(states: ExecutorStates) -> str:
    lacking = states.standby - len(spare(states))
    return f"waiting for {lacking} of {states.standby} standby executors" if lacking > 0 else ""


def _not_replaced(states: ExecutorStates) -> str:
    waited = [
        executor
        for executor in states.staying
        if executor in states.replacing and executor not in states.replaced
    ]
    if not waited:
        return ""
    limit_s = states.waits.replace_s
    return f"{_named(waited)} not replaced: no successor started within {limit_s:.0f} s"


def _warming(states: ExecutorStates) -> str:
    warming = states.those_in({"warming"})
    return f"warming {_named(warming)}" if warming else ""


def _moving(states: ExecutorStates) -> str:
    """Return the moves to executors in a scale-out or a repair; moves away from leaving executors
    are reported as emptying.
    """
    receiving, leaving = states.those_in({"assigned", "rebalancing"}), states.those_in(KEEPABLE)
    units = [
        unit
        for unit in _pending(states)
        if states.plan.wanted[unit] in receiving and states.facts.holders[unit] not in leaving
    ]
    if not units:
        return ""
    destinations = {states.plan.wanted[unit] for unit in units}
    named = _named([executor for executor in receiving if executor in destinations])
    return f"moving {counted(len(units), 'partition')} to {named}"


def _standing_by(states: ExecutorStates) -> str:
    standby = states.those_in({"standby"})
    verb = "stands" if len(standby) == 1 else "stand"
    return f"{_named(standby)} {verb} by" if standby else ""


def _move_too_long(states: ExecutorStates) -> str:
    if not _pending(states):
        return ""
    return too_big(states.facts.slack_s, states.facts.load_s) or ""


def _pending(states: ExecutorStates) -> list[Unit]:
    return [
        unit
        for unit in moves(states.facts.holders, states.plan.wanted)
        if unit in states.facts.holders
    ]


def _settling(states: ExecutorStates) -> str:
    settling = [
        executor
        for executor in states.those_in({"warm", "assigned", "rebalancing"})
        if not states.plan.missing(executor, states.facts.holders)
    ]
    return f"{_named(settling)} to be verified when a batch has ended" if settling else ""


def _emptying(states: ExecutorStates) -> list[str]:
    emptying = [executor for executor in states.those_in(KEEPABLE) if states.lives[executor].units]
    return [
        f"emptying executor {executor}: {states.held(executor)} of"
        f" {counted(states.lives[executor].units, 'partition')} left"
        for executor in emptying
    ]


def _leaving(states: ExecutorStates) -> str:
    leaving = states.those_in(GOING)
    if not leaving:
        return ""
    held = sum(states.held(executor) for executor in leaving)
    verb = "is" if len(leaving) == 1 else "are"
    left = f" with {counted(held, 'partition')} that did not move away" if held else ""
    return f"{_named(leaving)} {verb} leaving{left}"


def _stuck(states: ExecutorStates) -> str:
    stuck = states.those_in({"stuck"})
    count = sum(states.plan.missing(executor, states.facts.holders) for executor in stuck)
    if not count:
        return ""
    tries, rest_s = states.waits.tries, states.waits.rest_s
    return (
        f"{counted(count, 'partition')} did not stay on {_named(stuck)} after {tries} tries, again"
        f" every {rest_s:.0f} s"
    )


def _slots(states: ExecutorStates) -> str:
    slots, units = states.target * states.facts.slots_per_executor, len(states.facts.holders)
    if not 0 < units < slots:
        return ""
    return f"{units} state partitions cannot use {slots} slots: {slots} or more partitions would"


def _named(executors: Collection[str]) -> str:
    noun = "executors" if len(executors) > 1 else "executor"
    return f"{noun} {', '.join(executors)}"
