"""The facts of a step, and the lifecycle states of all executors during it; each pass of the step
returns a new value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from rheostat.protocols.executors.memory import STAYING, Life, Waits
from rheostat.protocols.orders import Order
from rheostat.protocols.transition_table import Row, first_row
from rheostat.state.assignment import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The executors and the locations of the state at ``now_s`` (seconds of any clock that
    continues across restarts of the controller).
    """

    now_s: float
    registered: tuple[str, ...]
    """Registered executors, oldest first, including leaving ones until their process has ended."""

    holders: Mapping[Unit, str | None] = field(default_factory=dict)
    """The executor of every state partition of every running query; None if it is unknown, or if
    its stores are on several."""

    weights: Mapping[Unit, float] | None = None
    """Rows or bytes of each unit; None means equal weights."""

    ranges: bool = False
    """Whether each executor shall have a contiguous range of every query's partitions."""

    nodes: Mapping[str, str] = field(default_factory=dict)
    """The node of each executor, if it counts in the choice of the leaving executor."""

    warm: frozenset[str] = frozenset()
    """Executors whose warm-up has ended."""
    warmable: bool = False
    """Whether executors can be warmed before they get state."""

    batch: int | None = None
    """Increases by one at each batch boundary of the application, when each running query has ended
    a batch (or was at rest) since the last.

    None: no batch was observed; then one second counts as a boundary.
    """
    slack_s: float | None = None
    """The seconds by which a batch may last longer without missing the SLO."""
    load_s: float | None = None
    """The seconds to load one unit."""

    in_pause: bool = False
    """Whether both refer to the pauses between batches: moved state is loaded there, and no batch
    lasts longer."""

    placing: bool = True
    """False if state is not placed (mode off, or impossible): every executor then counts as ready
    and as empty at once."""

    slots_per_executor: int = 1


@dataclass(frozen=True, slots=True)
class StatePlan:
    """The desired executor of every unit, the executors among which the units are balanced, and the
    units that are sent in this step.
    """

    wanted: Mapping[Unit, str] = field(default_factory=dict)
    takers: tuple[str, ...] = ()
    sending: Mapping[Unit, str] = field(default_factory=dict)

    def missing(self, executor: str, holders: Mapping[Unit, str | None]) -> int:
        """Return how many units an executor should hold but does not."""
        return sum(
            holders.get(unit) != executor
            for unit, wanted in self.wanted.items()
            if wanted == executor
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorStates:
    """The lives of the executors, the facts, the requests, and the choices of the step."""

    facts: Facts
    target: int
    standby: int
    """The number of warm executors without state above the target."""

    waits: Waits
    lives: Mapping[str, Life]
    boundary: bool
    """Whether a batch boundary lies between the last step and this one."""

    replacing: Mapping[str, float]
    """The executors to be replaced, and the time of each request."""

    leaving: Collection[str] = ()
    kept: Collection[str] = ()
    """The executors that shall leave now, and the leaving ones that are kept."""

    idle: Collection[str] = ()
    """The executors that the target does not need, which receive no state."""

    none_takes: bool = False
    """Whether no other executor can receive state."""

    plan: StatePlan = field(default_factory=StatePlan)

    taken: tuple[tuple[str, LifeRow], ...] = ()
    """The executors with the rows that they have taken in this step."""

    def take(self, executor: str, row: LifeRow) -> ExecutorStates:
        """Return the states after a row; the tries of a ready executor and the units of a draining
        candidate are counted from zero.
        """
        life = replace(self.lives[executor], phase=row.to, since_s=self.facts.now_s)
        if row.to == "ready":
            life = replace(life, tries=0)
        elif row.to == "candidate":
            life = replace(life, units=self.held(executor), left=self.held(executor))
        return replace(
            self, lives={**self.lives, executor: life}, taken=(*self.taken, (executor, row))
        )

    def took(self, executor: str, event: Callable[[ExecutorStates, str], bool]) -> bool:
        """Return whether an executor has taken a row of that event in this step."""
        return any(name == executor and row.event == event for name, row in self.taken)

    def ordered(self, order: type[Order]) -> tuple[str, ...]:
        """Return the executors whose rows in this step give an order of that type."""
        return tuple(executor for executor, row in self.taken if row.order is order)

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
        """The staying executors that wait for a replacement, except those whose replacement timed
        out.
        """
        staying = self.staying
        # Once the others reach the target, the predecessor leaves, however long its successor took.
        came = sum(executor not in self.replacing for executor in staying) >= self.target
        waiting = {
            executor
            for executor, since_s in self.replacing.items()
            if came or self.facts.now_s - since_s < self.waits.replace_s
        }
        return [executor for executor in staying if executor in waiting]

    @property
    def lost(self) -> set[Unit]:
        """The units whose holder no longer exists."""
        return {
            unit
            for unit, holder in self.facts.holders.items()
            if holder is not None and holder not in self.facts.registered
        }

    def held(self, executor: str) -> int:
        """Return how many units an executor holds."""
        return sum(holder == executor for holder in self.facts.holders.values())

    def weight(self, executor: str) -> float:
        """Return the weight of an executor's state; a unit of unknown weight counts as 1."""
        weights = self.facts.weights or {}
        return sum(
            weights.get(unit, 1.0)
            for unit, holder in self.facts.holders.items()
            if holder == executor
        )

    def waited_s(self, executor: str) -> float:
        """Return the seconds since an executor entered its phase."""
        return self.facts.now_s - self.lives[executor].since_s


LifeRow: TypeAlias = "Row[[ExecutorStates, str], type[Order]]"


def walk(states: ExecutorStates, rows: Iterable[LifeRow]) -> ExecutorStates:
    """Take for every executor the first of these rows that leaves its phase and whose event holds,
    and return the resulting states.
    """
    for executor in states.lives:
        if row := first_row(rows, states.phase(executor), states, executor):
            states = states.take(executor, row)
    return states
