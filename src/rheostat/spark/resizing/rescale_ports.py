"""What the rescale controller needs of an application: its executors, its queries, and ways to warm
executors and to load state early.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from rheostat.signals.rhythm import Rhythm
from rheostat.spark.sensing.queries.state_stores import Operator
from rheostat.state.assignment import Unit


class Executors(Protocol):
    """The executors of the application."""

    def hosts(self) -> Mapping[str, str]:
        """Return the host of each executor that can be reached, oldest first."""
        ...

    def registered(self) -> int:
        """Return how many executors are registered; one that has just come is among them before it
        can be reached.
        """
        ...

    def request_total(self, executors: int) -> bool:
        """Ask for a total."""
        ...

    def decommission(self, executors: list[str]) -> None:
        """Let executors end their tasks and leave."""
        ...

    def kill_idle(self, executors: list[str]) -> None:
        """End executors that run no task."""
        ...

    def kill(self, executors: list[str]) -> None:
        """End executors, their tasks too."""
        ...


class BlockManagers(Protocol):
    """Which executors a Kafka source prefers."""

    def preferred(self) -> list[str]:
        """Return the executors that it may prefer."""
        ...

    def hide(self, executors: list[str]) -> bool:
        """Take executors out of its preferences; False where that cannot be."""
        ...

    def hide_newcomers(self, hides: bool) -> bool:
        """Do so from now on, or no longer, with each executor in the moment in which it comes;
        False where that cannot be.
        """
        ...


class Queries(Protocol):
    """The running queries."""

    def refresh(self) -> Collection[str]:
        """Return their run ids."""
        ...

    def batches(self) -> dict[str, int]:
        """Return the last finished batch of each."""
        ...

    def idle(self, run_id: str, quiet_s: float) -> bool:
        """Tell whether one is at rest, ``quiet_s`` seconds after its last boundary."""
        ...

    def rhythm(self, run_id: str) -> Rhythm:
        """Return when one runs batches and when it pauses."""
        ...

    def moves(self, run_id: str) -> None:
        """Note that the next batch of one loads state that moves."""
        ...

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]] | None:
        """Return the state folder and the stateful operators of one."""
        ...


class Warmth(Protocol):
    """Warms executors before they get state."""

    @property
    def available(self) -> bool:
        """Whether it can."""
        ...

    def begin(self, executor: str, host: str) -> None:
        """Start to warm an executor."""
        ...

    def ready(self) -> frozenset[str]:
        """Return the executors that are warm."""
        ...

    def close(self) -> None:
        """Stop."""
        ...


class Preloading(Protocol):
    """Loads state before the batch that needs it."""

    def begin(self, sent: Mapping[Unit, str]) -> None:
        """Start to load units on the executors that they have been sent to."""
        ...

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        """Return how long these queries' pauses let state load and what a unit takes; None where
        batches have to load it.
        """
        ...
