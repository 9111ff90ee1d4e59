"""Where a change of size stands, in words."""

from __future__ import annotations

from collections.abc import Collection

from rheostat.model import Rescaling
from rheostat.rescaling.executors.executor_choice import request_total, spare
from rheostat.rescaling.executors.executor_lifecycle import ARRIVING, GOING, KEEPABLE
from rheostat.rescaling.executors.executor_states import ExecutorStates
from rheostat.rescaling.executors.state_plan import StatePlan
from rheostat.state.assignment import moves
from rheostat.state.fluid import too_big
from rheostat.state.units import Unit


def describe(roster: ExecutorStates, plan: StatePlan) -> Rescaling:
    """Return the phase, and in words everything that is under way, that waits, and that cannot be
    helped.
    """
    coming = (
        _waiting(roster),
        _standby_waiting(roster),
        _not_replaced(roster),
        _warming(roster),
        _moving(roster, plan),
        _settling(roster, plan),
    )
    said = (
        *coming,
        *_emptying(roster),
        _leaving(roster),
        _standing_by(roster),
        _felt(roster, plan),
        _stuck(roster, plan),
        _slots(roster),
    )
    return Rescaling(phase=_phase(roster), detail="; ".join(part for part in said if part))


def _phase(roster: ExecutorStates) -> str:
    # The order is that of importance: lacking capacity is told before surplus, and both before
    # moves.
    if _lacking(roster) > 0 or roster.those_in(ARRIVING):
        return "growing"
    if (
        roster.those_in(KEEPABLE | GOING)
        or len(roster.facts.registered) > roster.target + roster.standby
    ):
        return "shrinking"
    if roster.those_in({"rebalancing"}):
        return "balancing"
    return "blocked" if roster.those_in({"stuck"}) else "steady"


def _lacking(roster: ExecutorStates) -> int:
    """Return how many executors are lacking for the target; the job does without those that are
    lacking for the standby.
    """
    # Idle executors do not count, because standby ones do not serve the target.
    return roster.target + len(roster.replaced) - (len(roster.staying) - len(spare(roster)))


def _waiting(roster: ExecutorStates) -> str:
    lacking, total = _lacking(roster), request_total(roster) - roster.standby
    stead = f" to replace {_named(roster.replaced)}" if roster.replaced else ""
    return f"waiting for {lacking} of {total} executors{stead}" if lacking > 0 else ""


def _standby_waiting(roster: ExecutorStates) -> str:
    lacking = roster.standby - len(spare(roster))
    return f"waiting for {lacking} of {roster.standby} standby executors" if lacking > 0 else ""


def _not_replaced(roster: ExecutorStates) -> str:
    waited = [
        executor
        for executor in roster.staying
        if executor in roster.replacing and executor not in roster.replaced
    ]
    return (
        f"{_named(waited)} not replaced: no other came in {roster.waits.replace_s:.0f} s"
        if waited
        else ""
    )


def _warming(roster: ExecutorStates) -> str:
    warming = roster.those_in({"warming"})
    return f"warming {_named(warming)}" if warming else ""


def _moving(roster: ExecutorStates, plan: StatePlan) -> str:
    """Moves away from those that leave are told as emptying; here is who receives in a scale-out or
    a repair.
    """
    receiving, leaving = roster.those_in({"assigned", "rebalancing"}), roster.those_in(KEEPABLE)
    units = [
        unit
        for unit in _pending(roster, plan)
        if plan.wanted[unit] in receiving and roster.facts.holders[unit] not in leaving
    ]
    to = {plan.wanted[unit] for unit in units}
    return (
        f"moving {_partitions(len(units))} to"
        f" {_named([executor for executor in receiving if executor in to])}"
        if units
        else ""
    )


def _standing_by(roster: ExecutorStates) -> str:
    standby = roster.those_in({"standby"})
    verb = "stands" if len(standby) == 1 else "stand"
    return f"{_named(standby)} {verb} by" if standby else ""


def _felt(roster: ExecutorStates, plan: StatePlan) -> str:
    return (
        (too_big(roster.facts.slack_s, roster.facts.load_s) or "") if _pending(roster, plan) else ""
    )


def _pending(roster: ExecutorStates, plan: StatePlan) -> list[Unit]:
    return [
        unit for unit in moves(roster.facts.holders, plan.wanted) if unit in roster.facts.holders
    ]


def _settling(roster: ExecutorStates, plan: StatePlan) -> str:
    settling = [
        executor
        for executor in roster.those_in({"warm", "assigned", "rebalancing"})
        if not plan.missing(executor, roster.facts.holders)
    ]
    return f"{_named(settling)} to be verified when a batch has ended" if settling else ""


def _emptying(roster: ExecutorStates) -> list[str]:
    emptying = [executor for executor in roster.those_in(KEEPABLE) if roster.lives[executor].units]
    return [
        f"emptying executor {e}: {roster.held(e)} of {_partitions(roster.lives[e].units)} left"
        for e in emptying
    ]


def _leaving(roster: ExecutorStates) -> str:
    leaving = roster.those_in(GOING)
    held = sum(roster.held(executor) for executor in leaving)
    verb = "is" if len(leaving) == 1 else "are"
    return (
        f"{_named(leaving)} {verb} leaving"
        + (f" with {_partitions(held)} that did not move away" if held else "")
        if leaving
        else ""
    )


def _stuck(roster: ExecutorStates, plan: StatePlan) -> str:
    stuck = roster.those_in({"stuck"})
    count = sum(plan.missing(executor, roster.facts.holders) for executor in stuck)
    tries, rest_s = roster.waits.tries, roster.waits.rest_s
    return (
        f"{_partitions(count)} did not stay on {_named(stuck)} after {tries} tries, again every"
        f" {rest_s:.0f} s"
        if count
        else ""
    )


def _slots(roster: ExecutorStates) -> str:
    slots, units = roster.target * roster.facts.slots_per_executor, len(roster.facts.holders)
    return (
        f"{units} state partitions cannot use {slots} slots: {slots} or more partitions would"
        if 0 < units < slots
        else ""
    )


def _partitions(count: int) -> str:
    return f"{count} partition" if count == 1 else f"{count} partitions"


def _named(executors: Collection[str]) -> str:
    return f"executor{'s' if len(executors) > 1 else ''} {', '.join(executors)}"
