"""Which executors an application has: since which round each is there, and which of them have held
state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rheostat.protocols.executors.memory import ARRIVING, Life
from rheostat.spark.resizing.look_pace import CALM_S, COUNT_S, POLL_S
from rheostat.spark.resizing.rescale_ports import Executors


class ExecutorRegistry:
    """Counts the executors that can be reached, and remembers when each was first seen."""

    def __init__(self, executors: Executors) -> None:
        self._executors = executors
        self._counted_s = self._reached_s = float("-inf")
        self._joined: dict[str, int | None] = {}
        """The round in which each executor was first seen."""
        self.hosts: Mapping[str, str] = {}
        """The host of each executor, oldest first."""
        self.coming = False
        """Whether an executor is registered that cannot be reached yet: within a second it can, and
        a source may prefer it."""
        self.seasoned: set[str] = set()
        """Executors that have held state: what they load next is not their first."""

    def count(self, round_number: int | None, phase: str, busy: bool, now: float) -> bool:
        """Count, but not at every poll while a boundary is waited for (``busy``), and tell whether
        executors have come or gone: within a tenth of a second where some are to come.

        Only in the ``phase`` growing those are asked for that are still coming.
        """
        # Counting asks Spark's JVM: too dear for each of the 40 looks a second that wait for a
        # boundary.
        eager_s = POLL_S if self.coming else COUNT_S
        if busy and now - self._counted_s < (eager_s if phase == "growing" else CALM_S):
            return False
        self._counted_s = now
        registered = self._executors.registered() if phase == "growing" else None
        # Who can be reached is the dearer question; whoever comes is registered before.
        if registered == len(self.hosts) and now - self._reached_s < CALM_S:
            self.coming = False
            return False
        before, self.hosts, self._reached_s = self.hosts, self._executors.hosts(), now
        self.coming = registered is not None and registered > len(self.hosts)
        # Spark gives no number twice, so those that have gone need not be remembered.
        self._joined = {
            executor: self._joined.get(executor, round_number) for executor in self.hosts
        }
        return tuple(before) != tuple(self.hosts)

    def note_holders(self, holders: Iterable[str | None]) -> None:
        """Take the executors that hold state now."""
        self.seasoned.update(holder for holder in holders if holder)

    @property
    def fresh(self) -> set[str]:
        """The executors that have never held state."""
        return self.hosts.keys() - self.seasoned

    def arriving(self, lives: Mapping[str, Life]) -> set[str]:
        """Return the fresh executors that are on their way in, or that the protocol does not know
        yet; before it knows any, none is.
        """
        # Before the first step the protocol knows nobody: then all are old, and none is to be
        # hidden.
        new = self.hosts.keys() - lives.keys() if lives else set()
        known = {executor for executor, life in lives.items() if life.phase in ARRIVING}
        return (new | known) - self.seasoned

    def newcomers(self, round_number: int | None) -> set[str]:
        """Return the executors that have not seen a whole batch.

        The first task of a Kafka source and the first state that is loaded are both slow on a new
        executor: not in the same batch.
        """
        if round_number is None:
            return set()
        return {
            executor
            for executor, joined in self._joined.items()
            # Who came during round n saw only the rest of its batches; the first whole ones are
            # those of n + 1.
            if joined is not None and round_number <= joined
        }
