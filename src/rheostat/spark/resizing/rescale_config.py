"""What the session allows a change of size to do, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Requests(Protocol):
    """Passes requests for executors to the cluster manager."""

    def request_total(self, executors: int) -> bool:
        """Request a total."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaleConfig:
    """What the session allows, the objective in seconds, and the number of standby executors.

    Totals of executors are requested through ``requests``, directly where it is None.
    ``graceful`` is false where executors cannot be decommissioned: then idle ones are ended.
    ``nodes`` returns the node of each executor from the hosts of all; with ``frees_nodes``, of
    executors with as much state, one on the emptiest node leaves.
    ``hides`` is false where a hidden executor could not give its blocks away. ``leaving`` is told
    of each executor that has been asked to leave: it gets no task any more, but lingers. ``hold``
    is told when the size begins to change and when it no longer does: tasks are to wait longer
    meanwhile for the executor that has their state. ``ended`` tells whether the application is
    over. ``at_start`` and ``at_end`` are called when the rescale controller starts and stops.
    """

    slo_s: float = 10.0
    requests: Requests | None = None
    graceful: bool = True
    hides: bool = True
    slots_per_executor: int = 1
    standby: int = 0
    max_executors: int = 8
    nodes: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda hosts: hosts
    frees_nodes: bool = True
    leaving: Callable[[str], None] = lambda _: None
    hold: Callable[[bool], object] = lambda _: None
    ended: Callable[[], bool] = lambda: False
    at_start: Callable[[], object] = lambda: None
    at_end: Callable[[], object] = lambda: None

    def standby_above(self, target: int) -> int:
        """Return how many executors stand by above a target: together they never exceed the
        ceiling.
        """
        return min(self.standby, max(0, self.max_executors - target))
