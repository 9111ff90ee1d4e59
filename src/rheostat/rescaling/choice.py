"""Who leaves, who is kept: the choices among executors that a target makes necessary."""

from __future__ import annotations

from rheostat.rescaling.life import DONE, KEEPABLE
from rheostat.rescaling.scene import Scene


def chosen(scene: Scene) -> tuple[str, ...]:
    """Return the executors that are to leave now.

    What is above the target goes: first those that are to be replaced anyway, then those with the least state, of equals the
    youngest. An executor to be replaced goes only when others have settled in its stead.
    """
    replaced = _least_state_first(scene, scene.replaced)
    others = [executor for executor in scene.staying if executor not in replaced]
    surplus = max(0, len(others) - scene.target)
    if surplus or not replaced:
        return (*replaced, *_least_state_first(scene, others)[:surplus])
    settled = sum(scene.phase(executor) in DONE for executor in others)
    return tuple(replaced[: max(0, settled + len(replaced) - scene.target)])


def kept(scene: Scene) -> tuple[str, ...]:
    """Return the leaving executors that a higher target takes back: those with the most state, not those to be replaced."""
    lacking = max(0, scene.target - len(scene.staying))
    leaving = _least_state_first(scene, scene.those_in(KEEPABLE))[::-1]
    return tuple(sorted(leaving, key=lambda executor: executor in scene.replacing)[:lacking])


def request_total(scene: Scene) -> int:
    """Return how many executors the cluster should run: the target, and one more for each that waits to be replaced."""
    return scene.target + len(scene.replaced)


def _least_state_first(scene: Scene, executors: list[str]) -> list[str]:
    youngest_first = executors[::-1]
    return sorted(youngest_first, key=scene.weight)
