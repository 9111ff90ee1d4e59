"""Another program that asks Spark for executors: a plugin, a listener, the script itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from rheostat.protocols.conflict_history import MOST, OTHER, WITHIN_S, ConflictHistory
from rheostat.spark.resizing.rescale_ports import Executors

_log = logging.getLogger("rheostat")


class ConflictDetector:
    """Detects it by the total that the cluster manager was last asked for, read before Rheostat's
    next request.

    ``requested`` returns that total; None: unknown. Dynamic allocation does not occur here: beside
    it Rheostat only observes.
    """

    def __init__(self, requested: Callable[[], int | None]) -> None:
        self._requested = requested
        self._last_request: int | None = None
        self._sizes: list[int] = []
        self._history = ConflictHistory()
        self._is_logged = False

    def look(self) -> None:
        """Check whether the total is still the one that was requested last."""
        if self._last_request is None:
            return
        requested = self._requested()
        # A restarted application master has no total: no other program caused that.
        if requested is not None and requested != self._last_request:
            self._sizes.append(requested)

    def note_request(self, total: int) -> None:
        """Note the total that Rheostat requests now."""
        self._last_request = total

    def words(self, now: float) -> str:
        """Describe the sizes that another program has requested since the last call, empty where
        none has; repeated requests yield a warning, which is logged the first time.
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


class ThrottledExecutors:
    """Executors whose total passes through ``total`` and is noted by ``other``; the rest is
    delegated.
    """

    def __init__(
        self, executors: Executors, total: Callable[[int], int], other: ConflictDetector
    ) -> None:
        self._executors = executors
        self._total = total
        self._other = other

    def hosts(self) -> Mapping[str, str]:
        """Return the host of each executor that can be reached."""
        return self._executors.hosts()

    def registered(self) -> int:
        """Return how many are registered."""
        return self._executors.registered()

    def request_total(self, executors: int) -> bool:
        """Request a total, or what is there while a refusal lasts."""
        # Limited here and not in the protocol: its target stays, so it goes on as soon as there is
        # room.
        total = self._total(executors)
        self._other.look()
        accepted = self._executors.request_total(total)
        self._other.note_request(total)
        return accepted

    def decommission(self, executors: list[str]) -> None:
        """Let executors end their tasks and leave."""
        self._executors.decommission(executors)

    def kill_idle(self, executors: list[str]) -> None:
        """End executors that run no task."""
        self._executors.kill_idle(executors)

    def kill(self, executors: list[str]) -> None:
        """End executors, their tasks too."""
        self._executors.kill(executors)
