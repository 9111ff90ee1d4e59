"""Executors whose pods have run and ended without ever registering: mostly they do not reach the
driver, and Spark makes new ones for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rheostat.spark.sensing.kubernetes.pods import Pod

FEW = 2
"""One may have been ended by anybody."""


class Unregistered:
    """Counts them since an executor has registered last."""

    def __init__(self) -> None:
        self._registered: set[str] = set()
        self._running: dict[str, str] = {}
        self._ended: dict[str, str] = {}

    @property
    def ever_registered(self) -> Collection[str]:
        """The executors that have registered, those that have gone since, too."""
        return self._registered

    def note(self, registered: Collection[str]) -> None:
        """Take the executors that are registered: at each tick, for one may come and go between two
        looks at the pods.
        """
        if not self._registered.issuperset(registered):
            self._registered.update(registered)
            self._ended = {}

    def see(self, pods: Iterable[Pod], registered: Collection[str]) -> None:
        """See the pods and the executors that are registered, of one moment."""
        self.note(registered)
        there = {pod.executor: pod for pod in pods}
        for executor in list(self._running):
            if executor in self._registered:
                del self._running[executor]
            elif executor not in there or not there[executor].lives:
                self._ended[executor] = self._running.pop(executor)
        for pod in there.values():
            if pod.phase == "Failed" and pod.executor not in self._registered:
                self._ended[pod.executor] = pod.name
            elif pod.phase == "Running" and pod.executor not in self._registered:
                self._running[pod.executor] = pod.name

    def words(self) -> str:
        """Return how many they are and the last one; nothing for fewer than ``FEW``."""
        if len(self._ended) < FEW:
            return ""
        return (
            f"{len(self._ended)} pods have ended before their executors registered, the last"
            f" {list(self._ended.values())[-1]}"
        )
