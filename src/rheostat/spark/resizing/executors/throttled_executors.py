"""The executors, asked for with patience: what the cluster manager refuses is not asked for every
second, and whoever else asks is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rheostat.spark.resizing.executors.conflict_detector import ConflictDetector
from rheostat.spark.resizing.rescale_ports import Executors


class ThrottledExecutors:
    """Executors whose total is first passed through ``total``, and told to ``other``; all else is
    handed on.
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
        """Ask for a total, or for what is there while a refusal is waited out."""
        # Limited here and not in the protocol: its target stays, so it goes on as soon as there is
        # room.
        total = self._total(executors)
        self._other.look()
        asked = self._executors.request_total(total)
        self._other.asks(total)
        return asked

    def decommission(self, executors: list[str]) -> None:
        """Let executors end their tasks and leave."""
        self._executors.decommission(executors)

    def kill_idle(self, executors: list[str]) -> None:
        """End executors that run no task."""
        self._executors.kill_idle(executors)

    def kill(self, executors: list[str]) -> None:
        """End executors, their tasks too."""
        self._executors.kill(executors)
