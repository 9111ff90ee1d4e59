"""Detects another program that requests executors: a plugin, a listener or the script itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from rheostat.protocols.size_in_force import MOST, OTHER, WITHIN_S, ConflictHistory
from rheostat.spark.internals.executors import Executors
from rheostat.spark.resizing.platform import Platform

_log = logging.getLogger("rheostat")


class ConflictDetector:
    """Compares the total last requested from the cluster manager with Rheostat's, before Rheostat's
    next request.

    ``requested`` returns that total; None if it is unknown. Dynamic allocation does not occur here:
    with it, Rheostat only observes.
    """

    def __init__(self, requested: Callable[[], int | None]) -> None:
        self._requested = requested
        self._last_request: int | None = None
        self._sizes: list[int] = []
        self._history = ConflictHistory()
        self._is_logged = False

    def poll(self) -> None:
        """Check whether the total is still the one that Rheostat requested last."""
        if self._last_request is None:
            return
        requested = self._requested()
        # After a restart of the application master there is no total; no other program caused that.
        if requested is not None and requested != self._last_request:
            self._sizes.append(requested)

    def note_request(self, total: int) -> None:
        """Record the total that Rheostat requests now."""
        self._last_request = total

    def words(self, now: float) -> str:
        """Describe the sizes that another program has requested since the last call, empty without
        any; repeated requests yield a warning, which is logged the first time.
        """
        sizes, self._sizes = self._sizes, []
        for size in sizes:
            self._history = self._history.recorded(size, now)
        if not self._history.is_conflict(now):
            self._is_logged = False
            return f"{OTHER} {sizes[-1]}, Rheostat for {self._last_request} again" if sizes else ""
        warning = (
            f"{OTHER} executors {MOST} times within {WITHIN_S:g} s, most recently for"
            f" {self._history.size}, while Rheostat asks for {self._last_request}; turn off the"
            " plugin, or the line of the script, that calls requestTotalExecutors, requestExecutors"
            " or killExecutors. The job keeps running, and Rheostat repeats its request each time"
        )
        if not self._is_logged:
            self._is_logged = True
            _log.warning("rheostat: %s", warning)
        return warning


@dataclass(eq=False)
class SharedCluster:
    """The cluster, which the cluster manager and other programs change in addition to Rheostat.

    ``ended`` returns whether the application has ended. ``leaving`` is called with each executor
    that was asked to decommission: it lingers without getting tasks.
    """

    executors: Executors
    platform: Platform
    ended: Callable[[], bool]
    leaving: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self.conflicts = ConflictDetector(self.executors.requested)

    def poll(self, target: int, now: float) -> str:
        """Describe what others do to the executors; empty if they do nothing."""
        cluster = self.platform.poll(self.executors.ids(), target, now)
        return "; ".join(filter(None, (cluster, self.conflicts.words(now))))

    def request_total(self, executors: int) -> None:
        """Request a total, limited while the cluster manager refuses executors."""
        # Limited here, not in the protocol: it keeps its target and continues once there is room.
        total = self.platform.total(executors)
        self.conflicts.poll()
        self.executors.request_total(total)
        self.conflicts.note_request(total)
