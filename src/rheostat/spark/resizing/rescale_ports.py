"""The ports through which the rescale controller reaches an application: executors, queries,
warm-up and preloading of state.
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
        """Return the host of each reachable executor, oldest first."""
        ...

    def registered(self) -> int:
        """Return the number of registered executors, including new ones that are not
        reachable yet.
        """
        ...

    def request_total(self, executors: int) -> bool:
        """Request a total."""
        ...

    def decommission(self, executors: list[str]) -> None:
        """Decommission executors: they finish their tasks and end."""
        ...

    def kill_idle(self, executors: list[str]) -> None:
        """Kill those executors that run no task."""
        ...

    def kill(self, executors: list[str]) -> None:
        """Kill executors with their tasks."""
        ...


class BlockManagers(Protocol):
    """The executors that a Kafka source prefers."""

    def preferred(self) -> list[str]:
        """Return the executors that it may prefer."""
        ...

    def hide(self, executors: list[str]) -> bool:
        """Exclude executors from its preferences; False if that is impossible."""
        ...

    def hide_newcomers(self, hides: bool) -> bool:
        """Exclude each new executor at the moment of its registration, or stop doing so; False if
        that is impossible.
        """
        ...


class Queries(Protocol):
    """The running queries."""

    def refresh(self) -> Collection[str]:
        """Return the run ids."""
        ...

    def batches(self) -> dict[str, int]:
        """Return the last finished batch of each."""
        ...

    def idle(self, run_id: str, quiet_s: float) -> bool:
        """Return whether a query is at rest, ``quiet_s`` seconds after its last boundary."""
        ...

    def rhythm(self, run_id: str) -> Rhythm:
        """Return when a query runs batches and when it pauses."""
        ...

    def moves(self, run_id: str) -> None:
        """Record that the next batch of a query loads moved state."""
        ...

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]] | None:
        """Return the state folder and the stateful operators of a query."""
        ...


class Warmth(Protocol):
    """Warms executors before they get state."""

    @property
    def available(self) -> bool:
        """Whether executors can be warmed."""
        ...

    def begin(self, executor: str, host: str) -> None:
        """Start to warm an executor."""
        ...

    def ready(self) -> frozenset[str]:
        """Return the warm executors."""
        ...

    def close(self) -> None:
        """Stop."""
        ...


class Preloading(Protocol):
    """Loads state before the batch that needs it."""

    def begin(self, sent: Mapping[Unit, str]) -> None:
        """Start to load units on the executors that they were sent to."""
        ...

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        """Return the seconds that these queries' pauses leave for loading, and the seconds per
        unit; None if batches must load the state.
        """
        ...
