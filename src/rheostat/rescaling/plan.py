"""Where the state should be, and which units are sent there in this step."""

from __future__ import annotations

from dataclasses import replace

from rheostat.rescaling.life import ARRIVING
from rheostat.rescaling.memory import Memory
from rheostat.rescaling.scene import Scene
from rheostat.state.assignment import contiguous, minimal_movement, moves
from rheostat.state.fluid import next_moves, partitions_per_batch
from rheostat.state.units import Unit


def count_tries(scene: Scene, memory: Memory) -> None:
    """At a boundary, verify what was sent before it: an executor on which all of it stayed begins
    to count anew.
    """
    if not scene.boundary:
        return
    for executor in set(memory.sent.values()) & scene.lives.keys():
        sent = [
            unit
            for unit, to in memory.sent.items()
            if to == executor and unit in scene.facts.holders
        ]
        stayed = all(scene.facts.holders[unit] == executor for unit in sent)
        life = scene.lives[executor]
        scene.lives[executor] = replace(life, tries=0 if stayed else life.tries + 1)


def place(scene: Scene, memory: Memory) -> None:
    """Set where every unit is wanted and what is sent now: at a boundary what the slack allows,
    units of lost executors at once.
    """
    takers = _takers(scene)
    if not (scene.facts.placing and takers and (scene.boundary or scene.lost)):
        return
    if set(takers) != set(scene.takers) or scene.facts.holders.keys() != scene.wanted.keys():
        scene.takers = takers
        scene.wanted = _shared_out(scene, takers)
    units = _at_boundary(scene) if scene.boundary else _lost(scene, memory)
    scene.sending = {unit: scene.wanted[unit] for unit in units}


def sent(scene: Scene, memory: Memory) -> dict[Unit, str]:
    """Return what has been sent since the last boundary."""
    return {**({} if scene.boundary else memory.sent), **scene.sending}


def _takers(scene: Scene) -> tuple[str, ...]:
    """Return who shares the state: executors to be replaced only as long as the others are fewer
    than the target.
    """
    replaced = scene.replaced
    others = sum(executor not in replaced for executor in scene.taking)
    still = replaced[: max(0, scene.target - others)]
    return tuple(
        executor for executor in scene.taking if executor not in replaced or executor in still
    )


def _shared_out(scene: Scene, takers: tuple[str, ...]) -> dict[Unit, str]:
    if scene.facts.ranges:
        return contiguous(tuple(scene.facts.holders), takers)
    return minimal_movement(_living(scene), takers, scene.facts.weights)


def _living(scene: Scene) -> dict[Unit, str | None]:
    return {
        unit: holder if holder in scene.facts.registered else None
        for unit, holder in scene.facts.holders.items()
    }


def _at_boundary(scene: Scene) -> tuple[Unit, ...]:
    holders = _living(scene)
    resting = {e for e in scene.those_in({"stuck"}) if scene.waited_s(e) < scene.waits.rest_s}
    wanted = {
        unit: to
        for unit, to in scene.wanted.items()
        if to not in resting or holders[unit] not in scene.takers
    }
    first = [executor for executor in scene.lives if executor not in scene.takers]
    young = scene.those_in(ARRIVING) if scene.facts.in_pause else None
    return next_moves(
        holders, wanted, partitions_per_batch(scene.facts.slack_s, scene.facts.load_s), first, young
    )


def _lost(scene: Scene, memory: Memory) -> list[Unit]:
    """An order that was given since the last boundary is not given again before the next."""
    lost = scene.lost
    return [
        unit
        for unit in moves(_living(scene), scene.wanted)
        if unit in lost and memory.sent.get(unit) != scene.wanted[unit]
    ]
