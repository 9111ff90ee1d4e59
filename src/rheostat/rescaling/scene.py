"""One step of the protocol while it is being taken: the facts, the lives of the executors, and what
was ordered so far.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from rheostat.rescaling.facts import Facts
from rheostat.rescaling.life import STAYING, TAKING
from rheostat.rescaling.memory import Life, Memory
from rheostat.rescaling.table import Transition
from rheostat.rescaling.waits import Waits
from rheostat.state.units import Unit


@dataclass(slots=True, kw_only=True)
class Scene:
    """The working values of a step; the conditions of the events read them, transitions change
    them.
    """

    facts: Facts
    target: int
    standby: int
    """How many executors above the target are to be warm and without state."""

    waits: Waits
    lives: dict[str, Life]
    boundary: bool
    """Whether a batch boundary lies between the last step and this one."""

    replacing: Mapping[str, float] = field(default_factory=dict)
    chosen: Collection[str] = ()
    kept: Collection[str] = ()
    spare: Collection[str] = ()
    """The executors that the target does not need; they get no state."""

    nobody_takes: bool = False
    wanted: Mapping[Unit, str] = field(default_factory=dict)
    takers: tuple[str, ...] = ()
    sending: Mapping[Unit, str] = field(default_factory=dict)
    """The units that are sent in this step."""

    ordered: dict[str, list[str]] = field(default_factory=dict)
    """Executors by the name of the order that their transition gave."""

    def go(self, executor: str, transition: Transition) -> None:
        """Take a transition and note its order; an executor that has settled counts its tries anew,
        a chosen one its units.
        """
        life = replace(self.lives[executor], phase=transition.to, since_s=self.facts.now_s)
        if transition.to == "settled":
            life = replace(life, tries=0)
        elif transition.event == "chosen":
            life = replace(life, units=self.held(executor), left=self.held(executor))
        self.lives[executor] = life
        if transition.order:
            self.ordered.setdefault(transition.order, []).append(executor)

    def phase(self, executor: str) -> str:
        """Return the phase of an executor."""
        return self.lives[executor].phase

    def those_in(self, phases: Collection[str]) -> list[str]:
        """Return the executors in one of these phases, oldest first."""
        return [
            executor
            for executor in self.facts.registered
            if executor in self.lives and self.lives[executor].phase in phases
        ]

    @property
    def staying(self) -> list[str]:
        """The executors that count for the target and the standby, oldest first."""
        return self.those_in(STAYING)

    @property
    def replaced(self) -> list[str]:
        """The staying executors that wait for another in their stead; those for which none came in
        time are left out.
        """
        staying = self.staying
        came = sum(executor not in self.replacing for executor in staying) >= self.target
        waiting = {
            executor
            for executor, since_s in self.replacing.items()
            if came or self.facts.now_s - since_s < self.waits.replace_s
        }
        return [executor for executor in staying if executor in waiting]

    @property
    def taking(self) -> list[str]:
        """The executors that may be given state."""
        return [executor for executor in self.those_in(TAKING) if executor not in self.spare]

    @property
    def lost(self) -> set[Unit]:
        """The units whose holder is gone."""
        return {
            unit
            for unit, holder in self.facts.holders.items()
            if holder is not None and holder not in self.facts.registered
        }

    def held(self, executor: str) -> int:
        """Return how many units an executor holds."""
        return sum(holder == executor for holder in self.facts.holders.values())

    def weight(self, executor: str) -> float:
        """Return the weight of the state that an executor holds; a unit without one counts as 1."""
        weights = self.facts.weights or {}
        return sum(
            weights.get(unit, 1.0)
            for unit, holder in self.facts.holders.items()
            if holder == executor
        )

    def missing(self, executor: str) -> int:
        """Return how many units an executor should hold and does not."""
        return sum(
            self.facts.holders.get(unit) != executor
            for unit, wanted in self.wanted.items()
            if wanted == executor
        )

    def waited_s(self, executor: str) -> float:
        """Return how long an executor has been in its phase."""
        return self.facts.now_s - self.lives[executor].since_s


def scene_of(
    memory: Memory, facts: Facts, target: int, asked: Collection[str], standby: int, waits: Waits
) -> Scene:
    """Return the scene at the beginning of a step; ``asked`` are the executors that are to be
    replaced.

    A clock that was put back makes nothing late and nothing early: what began in its future began
    now.
    """
    now_s = facts.now_s
    lives = {
        executor: replace(life, since_s=min(life.since_s, now_s))
        for executor, life in memory.lives.items()
    }
    scene = Scene(
        facts=facts,
        target=target,
        standby=standby,
        waits=waits,
        lives=lives,
        boundary=_boundary(memory, facts, waits),
        wanted=memory.wanted,
        takers=memory.takers,
    )
    for executor in facts.registered:
        lives.setdefault(executor, Life("requested", now_s))
    scene.replacing = _replacing(memory, scene, asked)
    return scene


def _boundary(memory: Memory, facts: Facts, waits: Waits) -> bool:
    if memory.boundary_s is None:
        return False  # the first look falls anywhere into a batch
    return facts.batch != memory.batch or (
        facts.batch is None and facts.now_s - memory.boundary_s >= waits.idle_s
    )


def _replacing(memory: Memory, scene: Scene, asked: Collection[str]) -> dict[str, float]:
    """A replacement that was given up is forgotten after as long again, so that it can be asked for
    anew.
    """
    now_s, registered = scene.facts.now_s, scene.facts.registered
    known = {
        executor: min(since_s, now_s)
        for executor, since_s in memory.replacing.items()
        if executor in registered
    }
    known = {
        executor: since_s
        for executor, since_s in known.items()
        if now_s - since_s < 2 * scene.waits.replace_s
    }
    new = {executor: now_s for executor in asked if executor in registered}
    return {executor: known.get(executor, now_s) for executor in (*known, *new)}
