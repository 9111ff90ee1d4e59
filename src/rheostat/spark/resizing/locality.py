"""Which executors tasks prefer, and how long they wait for them, during a rescale.

A Kafka source prefers an executor for each of its partitions. During a rescale some of these are
cold, busy or on their way out, and a task that prefers one waits ``spark.locality.wait`` (3 s) for
it while other slots are free. Applications without state wait less (``LocalityWait``). A stateful
query must wait, or its state would move by itself: there, executors are hidden from the source
(``SourceHiding``; a hidden executor stays hidden), and tasks are held for the executor that has
their state (``TaskHold``): otherwise a task of a long batch takes its state to an executor that has
just come and is idle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from rheostat.spark.resizing.rescale_ports import BlockManagers

SHORT = "100ms"
COLD_S = 20.0
"""New executors are cold for about this long."""


class Queries(Protocol):
    """The running queries."""

    @property
    def stateful(self) -> bool:
        """Whether one of them has state."""
        ...


class LocalityWait:
    """Shortens the wait from a change of size until ``COLD_S`` after it, for applications without
    state, and restores it.
    """

    def __init__(self, set_wait: Callable[[str | None], bool], queries: Queries) -> None:
        self._set_wait = set_wait
        self._queries = queries
        self._until_s = float("-inf")
        self._is_short = False

    def tick(self, changing: bool, now: float) -> None:
        """Follow whether the size is changing."""
        if changing:
            self._until_s = now + COLD_S
        short = now < self._until_s and not self._queries.stateful
        # Spark reads the wait for each new set of tasks, so a change counts from the next stage on.
        if short != self._is_short:
            self._set_wait(SHORT if short else None)
            self._is_short = short

    def restore(self) -> None:
        """Give Spark its own wait back."""
        # At the end of time no change of size is recent, whatever the last tick was.
        self.tick(changing=False, now=float("inf"))


class SourceHiding:
    """Hides executors from the Kafka source; ``works`` is false where none may be hidden, and after
    Spark has refused it.
    """

    def __init__(self, block_managers: BlockManagers, works: bool) -> None:
        self._block_managers = block_managers
        self._last_request: tuple[Collection[str], Collection[str]] | None = None
        self._newcomers: bool | None = None
        """Whether executors are hidden as they come; None before the first request."""
        self.works = works

    def hide_newcomers(self) -> None:
        """Hide executors from now on as they come, where that can be."""
        if self.works and self._newcomers is None:
            self._newcomers = self._block_managers.hide_newcomers(True)

    def hide(self, cold: Collection[str], there: Collection[str]) -> None:
        """Hide the ``cold`` executors of those that are ``there``, and all others where none is: as
        long as the source prefers the others, the cold ones are spared its tasks.
        """
        request = set(cold), set(there)
        # What was hidden stays hidden, so the same question would be answered with nobody.
        if not self.works or request == self._last_request:
            return
        self._last_request = request
        preferred = self._block_managers.preferred()
        # The source prefers nobody once all are hidden; while one is cold, the warm ones serve it
        # better.
        hidden = [executor for executor in preferred if not cold or executor in cold]
        if hidden:
            self.works = self._block_managers.hide(hidden)

    def end(self) -> None:
        """Hide no more executors as they come."""
        if self._newcomers:
            self._block_managers.hide_newcomers(False)


class TaskHold:
    """Says when tasks are to wait longer, and when no longer; ``hold`` is called at each change."""

    def __init__(self, hold: Callable[[bool], object]) -> None:
        self._hold = hold
        self._holds = False

    def follow(self, changing: bool) -> None:
        """Hold tasks while the size is changing."""
        if changing != self._holds:
            self._holds = changing
            self._hold(changing)

    def end(self) -> None:
        """Hold none any more."""
        self.follow(changing=False)
