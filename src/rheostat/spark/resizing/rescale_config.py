"""The configuration of the rescale controller: what the session allows and what the user wants."""

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

    Totals of executors are requested through ``requests``, directly if it is None. ``graceful`` is
    false if executors cannot be decommissioned: then idle ones are killed. ``nodes`` returns the
    node of each executor from the hosts of all; with ``frees_nodes``, of executors with equal
    amounts of state, one on the emptiest node is removed first. ``hides`` is false if a hidden
    executor could not migrate its blocks. ``leaving`` is called with each executor that was asked
    to decommission: it lingers without getting tasks. ``hold`` is called when the size begins and
    stops changing, to make tasks wait longer for the executor that has their state. ``ended``
    returns whether the application has ended. ``at_start`` and ``at_end`` are called when the
    rescale controller starts and stops.
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
        """Return the number of standby executors above a target; the total never exceeds the
        maximum.
        """
        return min(self.standby, max(0, self.max_executors - target))
