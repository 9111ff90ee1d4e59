"""The ports of the rescale controller to an application, and its configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from rheostat.signals.rhythm import Rhythm
from rheostat.spark.sensing.state_stores import Operator
from rheostat.state.assignment import Unit


class Executors(Protocol):
    """The executors of the application."""

    def hosts(self) -> Mapping[str, str]:
        """Return the host of each reachable executor, oldest first."""

    def registered(self) -> int:
        """Return the number of registered executors, also of those not reachable yet."""

    def request_total(self, executors: int) -> bool:
        """Request a total."""

    def decommission(self, executors: list[str]) -> None:
        """Decommission executors: they finish their tasks and end."""

    def kill_idle(self, executors: list[str]) -> None:
        """Kill those executors that run no task."""

    def kill(self, executors: list[str]) -> None:
        """Kill executors with their tasks."""


class BlockManagers(Protocol):
    """The executors that a Kafka source prefers."""

    def preferred(self) -> list[str]:
        """Return the executors that it may prefer."""

    def hide(self, executors: list[str]) -> bool:
        """Exclude executors from its preferences; False if that is impossible."""

    def hide_newcomers(self, hides: bool) -> bool:
        """Exclude each new executor when it registers, or stop that; False if impossible."""


class Queries(Protocol):
    """The running queries."""

    def refresh(self) -> Collection[str]:
        """Return the run ids."""

    def batches(self) -> dict[str, int]:
        """Return the last finished batch of each."""

    def idle(self, run_id: str, quiet_s: float) -> bool:
        """Return whether a query is at rest, ``quiet_s`` seconds after its last boundary."""

    def rhythm(self, run_id: str) -> Rhythm:
        """Return when a query runs batches and when it pauses."""

    def moves(self, run_id: str) -> None:
        """Record that the next batch of a query loads moved state."""

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]] | None:
        """Return the state folder and the stateful operators of a query."""


class Warmth(Protocol):
    """Warms executors before they get state."""

    @property
    def available(self) -> bool:
        """Whether executors can be warmed."""

    def begin(self, executor: str, host: str) -> None:
        """Start to warm an executor."""

    def ready(self) -> frozenset[str]:
        """Return the warm executors."""

    def close(self) -> None:
        """Stop."""


class Preloading(Protocol):
    """Loads state before the batch that needs it."""

    def begin(self, sent: Mapping[Unit, str]) -> None:
        """Start to load units on the executors that they were sent to."""

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        """Return the seconds for loading in pauses and per unit; None: the batches load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaleConfig:
    """What the session allows, the objective in seconds, and the number of standby executors.

    Totals of executors are requested by ``request_total``, directly if it is None. ``graceful`` is
    false if executors cannot be decommissioned: then idle ones are killed. ``nodes`` returns the
    node of each executor from the hosts of all; with ``frees_nodes``, of executors with equal
    amounts of state, one on the emptiest node is removed first. ``hides`` is false if a hidden
    executor could not migrate its blocks. ``leaving`` is called with each executor that was asked
    to decommission: it lingers without getting tasks. ``ended`` returns whether the application
    has ended.
    """

    slo_s: float = 10.0
    request_total: Callable[[int], bool] | None = None
    graceful: bool = True
    hides: bool = True
    slots_per_executor: int = 1
    standby: int = 0
    max_executors: int = 8
    nodes: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda hosts: hosts
    frees_nodes: bool = True
    leaving: Callable[[str], None] = lambda _: None
    ended: Callable[[], bool] = lambda: False

    def standby_above(self, target: int) -> int:
        """Return the number of standby executors above a target, within the maximum; none where
        all executors are released.
        """
        return min(self.standby, max(0, self.max_executors - target)) if target else 0
