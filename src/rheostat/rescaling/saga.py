"""One step of the change of size: what is remembered and what is so -> what to remember, what to
order, what to say.

Pure, level-triggered, restart-safe: the target is asserted in every step, a step that was never
carried out is seen as such in the next facts, and the memory is plain JSON values (without it the
facts tell nearly all: executors that were there are taken as they are).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rheostat.model import Rescaling
from rheostat.rescaling.choice import chosen, kept, request_total, spare
from rheostat.rescaling.conditions import ARRIVALS, CHOICES, PLACEMENT, READINESS, walk
from rheostat.rescaling.facts import Facts
from rheostat.rescaling.life import KEEPABLE, LIFE
from rheostat.rescaling.memory import Life, Memory
from rheostat.rescaling.orders import Assign, Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.rescaling.plan import count_tries, place, sent
from rheostat.rescaling.scene import Scene, scene_of
from rheostat.rescaling.status_text import describe
from rheostat.rescaling.waits import Waits

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
    boundary, that of lost executors at once. ``replace`` need be said once: it is remembered until
    the executor is gone or is given up.
    """
    scene = scene_of(memory, facts, target, replace, standby, waits)
    walk(scene, ARRIVALS)
    _note_progress(scene)
    count_tries(scene, memory)
    scene.chosen, scene.kept = chosen(scene), kept(scene)
    walk(scene, CHOICES)
    scene.spare = spare(scene)
    scene.nobody_takes = not scene.taking and not scene.those_in({"standby"})
    walk(scene, READINESS)
    place(scene, memory)
    walk(scene, PLACEMENT)
    return Step(_remembered(scene, memory), _orders(scene), describe(scene))


def _note_progress(scene: Scene) -> None:
    """Waiting begins anew for a leaving executor whenever it holds fewer units than before."""
    for executor in scene.those_in(KEEPABLE):
        life, held = scene.lives[executor], scene.held(executor)
        if held < life.left:
            scene.lives[executor] = Life(
                life.phase, scene.facts.now_s, life.tries, life.units, held
            )


def _orders(scene: Scene) -> tuple[Order, ...]:
    """Return the total, and what the transitions of this step order, together for all executors."""
    ordered = {name: tuple(executors) for name, executors in scene.ordered.items()}
    several = ((Hide, "Hide"), (Decommission, "Decommission"), (Kill, "Kill"))
    receiving = ordered.get("Assign", ())
    units = {unit: executor for unit, executor in scene.sending.items() if executor in receiving}
    return (
        Request(request_total(scene)),
        *([Assign(units)] if units else []),
        *(WarmUp(executor) for executor in ordered.get("WarmUp", ())),
        *(order(ordered[name]) for order, name in several if name in ordered),
    )


def _remembered(scene: Scene, memory: Memory) -> Memory:
    facts = scene.facts
    since_s = None if scene.boundary else memory.boundary_s
    return Memory(
        lives={executor: life for executor, life in scene.lives.items() if life.phase != LIFE.end},
        batch=facts.batch,
        boundary_s=facts.now_s if since_s is None else min(since_s, facts.now_s),
        wanted=scene.wanted,
        takers=scene.takers,
        sent=sent(scene, memory),
        replacing=scene.replacing,
    )
