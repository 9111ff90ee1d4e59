"""When each event of the table holds for an executor: one condition per event, and nothing else
decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from rheostat.rescaling.choice import request_total
from rheostat.rescaling.life import LIFE
from rheostat.rescaling.scene import Scene

ARRIVALS = ("registered", "lost", "left")
CHOICES = ("chosen", "kept")
READINESS = ("cold", "as it is", "warmed", "called", "needed", "spent")
PLACEMENT = ("spare", "given", "whole", "handed", "retained", "empty", "unseen", "late")
"""The events in the order in which a step looks at them: each group builds on what the one before
has changed."""


def walk(scene: Scene, events: Collection[str]) -> None:
    """Take for every executor the first transition of its phase, among those of ``events``, whose
    condition holds.
    """
    for executor in tuple(scene.lives):
        for transition in LIFE.of(scene.phase(executor)):
            if transition.event in events and CONDITIONS[transition.event](scene, executor):
                scene.go(executor, transition)
                break


def _is_gone(scene: Scene, executor: str) -> bool:
    return executor not in scene.facts.registered


def _is_warm(scene: Scene, executor: str) -> bool:
    return executor in scene.facts.warm or scene.held(executor) > 0


def _is_spent(scene: Scene, executor: str) -> bool:
    return scene.boundary and scene.lives[executor].tries >= scene.waits.tries


def _is_whole(scene: Scene, executor: str) -> bool:
    return _has_no_state_to_place(scene) or (scene.boundary and not scene.missing(executor))


def _is_empty(scene: Scene, executor: str) -> bool:
    """One that was chosen in this very step may still be sent a task by the batch that runs."""
    return not scene.facts.placing or (
        scene.boundary and executor not in scene.chosen and not scene.held(executor)
    )


def _is_retained(scene: Scene, executor: str) -> bool:
    """One that was to be replaced is not wanted in standby either."""
    lacking = scene.standby > 0 and len(scene.staying) < request_total(scene)
    return lacking and executor not in scene.replacing and _is_empty(scene, executor)


def _is_unseen(scene: Scene, executor: str) -> bool:
    return scene.boundary and not (scene.facts.placing and scene.held(executor))


def _is_late(scene: Scene, executor: str) -> bool:
    return scene.waited_s(executor) >= scene.waits.of(scene.phase(executor))


def _can_be_warmed(scene: Scene) -> bool:
    return scene.facts.warmable and scene.facts.placing


def _has_no_state_to_place(scene: Scene) -> bool:
    return not scene.facts.placing or not scene.facts.holders


CONDITIONS: Mapping[str, Callable[[Scene, str], bool]] = {
    "registered": lambda scene, executor: not _is_gone(scene, executor),
    "lost": _is_gone,
    "left": _is_gone,
    "chosen": lambda scene, executor: executor in scene.chosen,
    "kept": lambda scene, executor: executor in scene.kept,
    "cold": lambda scene, _: _can_be_warmed(scene),
    "as it is": lambda scene, _: not _can_be_warmed(scene),
    "warmed": _is_warm,
    "called": lambda scene, executor: executor not in scene.spare,
    "needed": lambda scene, _: scene.nobody_takes,
    "spent": _is_spent,
    "late": _is_late,
    "spare": lambda scene, executor: executor in scene.spare,
    "given": lambda scene, executor: executor in scene.sending.values(),
    "whole": _is_whole,
    "handed": lambda scene, executor: any(
        scene.facts.holders.get(unit) == executor for unit in scene.sending
    ),
    "retained": _is_retained,
    "empty": _is_empty,
    "unseen": _is_unseen,
}
