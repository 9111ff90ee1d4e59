"""Executor requests with limits: refused executors are not requested every second, and competing
requests are detected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rheostat.spark.resizing.executors.conflict_detector import ConflictDetector
from rheostat.spark.resizing.rescale_ports import Executors


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
