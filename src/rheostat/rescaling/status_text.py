"""Where a change of size stands, in words."""

from __future__ import annotations

from collections.abc import Collection

from rheostat.model import Rescaling
from rheostat.rescaling.choice import request_total, spare
from rheostat.rescaling.life import ARRIVING, GOING, KEEPABLE
from rheostat.rescaling.scene import Scene
from rheostat.state.assignment import moves
from rheostat.state.fluid import too_big
from rheostat.state.units import Unit


def describe(scene: Scene) -> Rescaling:
    """Return the phase, and in words everything that is under way, that waits, and that cannot be
    helped.
    """
    coming = (
        _waiting(scene),
        _standby_waiting(scene),
        _not_replaced(scene),
        _warming(scene),
        _moving(scene),
        _settling(scene),
    )
    said = (
        *coming,
        *_emptying(scene),
        _leaving(scene),
        _standing_by(scene),
        _felt(scene),
        _stuck(scene),
        _slots(scene),
    )
    return Rescaling(phase=_phase(scene), detail="; ".join(part for part in said if part))


def _phase(scene: Scene) -> str:
    if _lacking(scene) > 0 or scene.those_in(ARRIVING):
        return "growing"
    if (
        scene.those_in(KEEPABLE | GOING)
        or len(scene.facts.registered) > scene.target + scene.standby
    ):
        return "shrinking"
    if scene.those_in({"rebalancing"}):
        return "balancing"
    return "blocked" if scene.those_in({"stuck"}) else "steady"


def _lacking(scene: Scene) -> int:
    """Return how many executors are lacking for the target; the job does without those that are
    lacking for the standby.
    """
    return scene.target + len(scene.replaced) - (len(scene.staying) - len(spare(scene)))


def _waiting(scene: Scene) -> str:
    lacking, total = _lacking(scene), request_total(scene) - scene.standby
    stead = f" to replace {_named(scene.replaced)}" if scene.replaced else ""
    return f"waiting for {lacking} of {total} executors{stead}" if lacking > 0 else ""


def _standby_waiting(scene: Scene) -> str:
    lacking = scene.standby - len(spare(scene))
    return f"waiting for {lacking} of {scene.standby} standby executors" if lacking > 0 else ""


def _not_replaced(scene: Scene) -> str:
    waited = [
        executor
        for executor in scene.staying
        if executor in scene.replacing and executor not in scene.replaced
    ]
    return (
        f"{_named(waited)} not replaced: no other came in {scene.waits.replace_s:.0f} s"
        if waited
        else ""
    )


def _warming(scene: Scene) -> str:
    warming = scene.those_in({"warming"})
    return f"warming {_named(warming)}" if warming else ""


def _moving(scene: Scene) -> str:
    """Moves away from those that leave are told as emptying; here is who receives in a scale-out or
    a repair.
    """
    receiving, leaving = scene.those_in({"assigned", "rebalancing"}), scene.those_in(KEEPABLE)
    units = [
        unit
        for unit in _pending(scene)
        if scene.wanted[unit] in receiving and scene.facts.holders[unit] not in leaving
    ]
    to = {scene.wanted[unit] for unit in units}
    return (
        f"moving {_partitions(len(units))} to"
        f" {_named([executor for executor in receiving if executor in to])}"
        if units
        else ""
    )


def _standing_by(scene: Scene) -> str:
    standby = scene.those_in({"standby"})
    verb = "stands" if len(standby) == 1 else "stand"
    return f"{_named(standby)} {verb} by" if standby else ""


def _felt(scene: Scene) -> str:
    return (too_big(scene.facts.slack_s, scene.facts.load_s) or "") if _pending(scene) else ""


def _pending(scene: Scene) -> list[Unit]:
    return [
        unit for unit in moves(scene.facts.holders, scene.wanted) if unit in scene.facts.holders
    ]


def _settling(scene: Scene) -> str:
    settling = [
        executor
        for executor in scene.those_in({"warm", "assigned", "rebalancing"})
        if not scene.missing(executor)
    ]
    return f"{_named(settling)} to be verified when a batch has ended" if settling else ""


def _emptying(scene: Scene) -> list[str]:
    emptying = [executor for executor in scene.those_in(KEEPABLE) if scene.lives[executor].units]
    return [
        f"emptying executor {e}: {scene.held(e)} of {_partitions(scene.lives[e].units)} left"
        for e in emptying
    ]


def _leaving(scene: Scene) -> str:
    leaving = scene.those_in(GOING)
    held = sum(scene.held(executor) for executor in leaving)
    verb = "is" if len(leaving) == 1 else "are"
    return (
        f"{_named(leaving)} {verb} leaving"
        + (f" with {_partitions(held)} that did not move away" if held else "")
        if leaving
        else ""
    )


def _stuck(scene: Scene) -> str:
    stuck = scene.those_in({"stuck"})
    count = sum(scene.missing(executor) for executor in stuck)
    tries, rest_s = scene.waits.tries, scene.waits.rest_s
    return (
        f"{_partitions(count)} did not stay on {_named(stuck)} after {tries} tries, again every"
        f" {rest_s:.0f} s"
        if count
        else ""
    )


def _slots(scene: Scene) -> str:
    slots, units = scene.target * scene.facts.slots_per_executor, len(scene.facts.holders)
    return (
        f"{units} state partitions cannot use {slots} slots: {slots} or more partitions would"
        if 0 < units < slots
        else ""
    )


def _partitions(count: int) -> str:
    return f"{count} partition" if count == 1 else f"{count} partitions"


def _named(executors: Collection[str]) -> str:
    return f"executor{'s' if len(executors) > 1 else ''} {', '.join(executors)}"
