"""Who works, who stands by, who leaves, who is kept: the choices among executors that a target
makes necessary.
"""

from __future__ import annotations

from rheostat.rescaling.life import DONE, KEEPABLE
from rheostat.rescaling.scene import Scene

_READY_FIRST = ("warm", "standby", "warming", "registered")
"""Phases of executors that do no state work yet, those that could begin soonest first."""


def spare(scene: Scene) -> tuple[str, ...]:
    """Return the executors without which the target is reached, those that could begin to work
    soonest first.

    Who holds state works, but for what strayed to an executor in standby.
    """
    others = [executor for executor in scene.staying if executor not in scene.replaced]
    free = [
        executor
        for phase in _READY_FIRST
        for executor in others
        if scene.phase(executor) == phase and _is_free(scene, executor)
    ]
    return tuple(free[max(0, scene.target - (len(others) - len(free))) :])


def chosen(scene: Scene) -> tuple[str, ...]:
    """Return the executors that are to leave now.

    What is above the target goes: first those that are to be replaced anyway, then those with the
    least state, of equals the youngest. Executors in standby are not above it, as long as they are
    not more than asked for: after a scale-in they are as ready as before. An executor to be
    replaced goes only when others have settled in its stead.
    """
    replaced, idle = _least_state_first(scene, scene.replaced), spare(scene)
    others = [executor for executor in scene.staying if executor not in replaced]
    working = [executor for executor in others if executor not in idle]
    surplus = (
        *idle[scene.standby :],
        *_least_state_first(scene, working)[: max(0, len(working) - scene.target)],
    )
    if surplus or not replaced:
        return (*replaced, *surplus)
    settled = sum(scene.phase(executor) in DONE for executor in others)
    return tuple(replaced[: max(0, settled + len(replaced) - scene.target)])


def kept(scene: Scene) -> tuple[str, ...]:
    """Return the leaving executors that a higher target takes back: those with the most state, not
    those to be replaced.

    They come before those in standby: their state need not move.
    """
    lacking = max(
        0, scene.target - sum(scene.phase(executor) != "standby" for executor in scene.staying)
    )
    leaving = _least_state_first(scene, scene.those_in(KEEPABLE))[::-1]
    return tuple(sorted(leaving, key=lambda executor: executor in scene.replacing)[:lacking])


def request_total(scene: Scene) -> int:
    """Return how many executors the cluster should run: the target, one more for each that waits to
    be replaced, and the standby.
    """
    return scene.target + len(scene.replaced) + scene.standby


def _is_free(scene: Scene, executor: str) -> bool:
    return scene.phase(executor) == "standby" or not scene.held(executor)


def _least_state_first(scene: Scene, executors: list[str]) -> list[str]:
    youngest_first = executors[::-1]
    return sorted(youngest_first, key=scene.weight)
