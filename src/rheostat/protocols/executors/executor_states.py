"""The lifecycle states of all executors during a step; each pass of it returns a new value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from rheostat.protocols.executors.executor_lifecycle import LIFE, STAYING
from rheostat.protocols.executors.facts import Facts
from rheostat.protocols.executors.memory import Life
from rheostat.protocols.executors.phase_limits import Waits
from rheostat.protocols.transition_table import Transition
from rheostat.state.units import Unit

Context = TypeVar("Context")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorStates:
    """The lives of the executors, the facts, and what is requested."""

    facts: Facts
    target: int
    standby: int
    """How many executors above the target are to be warm and without state."""

    waits: Waits
    lives: Mapping[str, Life]
    boundary: bool
    """Whether a batch boundary lies between the last step and this one."""

    replacing: Mapping[str, float]
    """The executors to be replaced, and since when."""

    taken: tuple[tuple[str, Transition], ...] = ()
    """Executors and the transitions that they have taken in this step."""

    def take(self, executor: str, transition: Transition) -> ExecutorStates:
        """Return the states after a transition; a ready executor counts its tries from 0 again, a
        draining candidate its units.
        """
        life = replace(self.lives[executor], phase=transition.to, since_s=self.facts.now_s)
        if transition.to == "ready":
            life = replace(life, tries=0)
        elif transition.event == "chosen":
            life = replace(life, units=self.held(executor), left=self.held(executor))
        return replace(
            self,
            lives={**self.lives, executor: life},
            taken=(*self.taken, (executor, transition)),
        )

    def took(self, executor: str, event: str) -> bool:
        """Tell whether an executor has taken a transition of that event in this step."""
        return any(name == executor and to.event == event for name, to in self.taken)

    def ordered(self, order: str) -> tuple[str, ...]:
        """Return the executors whose transitions in this step give the order of that name."""
        return tuple(executor for executor, to in self.taken if to.order == order)

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
        """The staying executors that wait for a replacement; those for which none came in time are
        left out.
        """
        staying = self.staying
        # Once the others reach the target, the predecessor goes however long its successor took.
        came = sum(executor not in self.replacing for executor in staying) >= self.target
        waiting = {
            executor
            for executor, since_s in self.replacing.items()
            if came or self.facts.now_s - since_s < self.waits.replace_s
        }
        return [executor for executor in staying if executor in waiting]

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

    def waited_s(self, executor: str) -> float:
        """Return how long an executor has been in its phase."""
        return self.facts.now_s - self.lives[executor].since_s


Condition: TypeAlias = Callable[[ExecutorStates, Context, str], bool]
"""Whether an event holds for an executor, from the states and the context of the pass."""


def walk(
    states: ExecutorStates, look: Mapping[str, Condition[Context]], context: Context
) -> ExecutorStates:
    """Take for every executor the first transition of its phase, among the events of ``look``,
    whose condition holds; return the states after them.
    """
    for executor in tuple(states.lives):
        # The order of the table decides: one transition an executor and look, the first that holds.
        for transition in LIFE.of(states.phase(executor)):
            holds = look.get(transition.event)
            if holds and holds(states, context, executor):
                states = states.take(executor, transition)
                break
    return states
