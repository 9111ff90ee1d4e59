"""The registered executors: the round in which each registered, and which have held state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rheostat.protocols.executors.memory import ARRIVING, Life
from rheostat.spark.internals.executors import Executors
from rheostat.spark.resizing.poll_thread import COUNT_S, IDLE_S, POLL_S


class ExecutorRegistry:
    """Counts the reachable executors, and records when each was first observed."""

    def __init__(self, executors: Executors) -> None:
        self._executors = executors
        self._counted_s = self._reached_s = float("-inf")
        self._joined: dict[str, int | None] = {}
        """The round in which each executor was first observed."""
        self.hosts: Mapping[str, str] = {}
        """The host of each executor, oldest first."""
        self.coming = False
        """Whether an executor has registered that is not reachable yet, but preferable."""
        self.seasoned: set[str] = set()
        """Executors that have held state: their next load is not their first."""

    def count(self, round_number: int | None, phase: str, busy: bool, now: float) -> bool:
        """Count the executors, less often while a boundary is awaited (``busy``), and return
        whether the reachable ones have changed; within 0.1 s if new ones are expected.

        Registered but unreachable executors are counted only in the ``phase`` growing.
        """
        # Counting calls the JVM: too expensive for 40 polls per second.
        eager_s = POLL_S if self.coming else COUNT_S
        if busy and now - self._counted_s < (eager_s if phase == "growing" else IDLE_S):
            return False
        self._counted_s = now
        registered = self._executors.registered() if phase == "growing" else None
        # Executors register before they are reachable, and reachability is the expensive query.
        if registered == len(self.hosts) and now - self._reached_s < IDLE_S:
            self.coming = False
            return False
        before, self.hosts, self._reached_s = self.hosts, self._executors.hosts(), now
        self.coming = registered is not None and registered > len(self.hosts)
        # Spark never reuses a number, so removed executors can be forgotten.
        self._joined = {
            executor: self._joined.get(executor, round_number) for executor in self.hosts
        }
        return tuple(before) != tuple(self.hosts)

    def note_holders(self, holders: Iterable[str | None]) -> None:
        """Record the executors that hold state now."""
        self.seasoned.update(holder for holder in holders if holder)

    @property
    def fresh(self) -> set[str]:
        """The executors that have never held state."""
        return self.hosts.keys() - self.seasoned

    def arriving(self, lives: Mapping[str, Life]) -> set[str]:
        """Return the fresh executors that arrive or are new to the protocol, if it knows any."""
        # Before its first step the protocol knows no executor, and none must be hidden.
        new = self.hosts.keys() - lives.keys() if lives else set()
        known = {executor for executor, life in lives.items() if life.phase in ARRIVING}
        return (new | known) - self.seasoned

    def newcomers(self, round_number: int | None) -> set[str]:
        """Return the executors that have not completed a full batch.

        The first task of a Kafka source and the first load of state are both slow on a new
        executor, so they must not fall into the same batch.
        """
        if round_number is None:
            return set()
        return {
            executor
            for executor, joined in self._joined.items()
            # Its first complete batches belong to the round after that of its registration.
            if joined is not None and round_number <= joined
        }
