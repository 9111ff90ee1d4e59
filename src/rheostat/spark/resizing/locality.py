"""Controls which executors tasks prefer, and how long they wait for them, during a rescale.

A Kafka source prefers an executor for each of its partitions. During a rescale some executors are
cold, busy or being removed, and a task that prefers one waits ``spark.locality.wait`` (3 s) for it
while other slots are free. In applications without state tasks wait less (``LocalityWait``). A
stateful query must wait, because its state would otherwise move: there, executors are hidden from
the source (``SourceHiding``; a hidden executor stays hidden), and tasks are held for the executor
that has their state (``TaskHold``), so that a task of a long batch does not take its state to a new
idle executor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from rheostat.spark.internals.block_managers import BlockManagers

SHORT = "100ms"
COLD_S = 20.0
"""The approximate time for which a new executor is cold."""


class LocalityWait:
    """Shortens the wait of stateless applications until ``COLD_S`` after a rescale."""

    def __init__(
        self, set_wait: Callable[[str | None], bool], stateful: Callable[[], bool]
    ) -> None:
        self._set_wait = set_wait
        self._stateful = stateful
        self._until_s = float("-inf")
        self._is_short = False

    def tick(self, changing: bool, now: float) -> None:
        """Update whether the size is changing."""
        if changing:
            self._until_s = now + COLD_S
        short = now < self._until_s and not self._stateful()
        # Spark reads the wait for each new task set, so a change takes effect with the next stage.
        if short != self._is_short:
            self._set_wait(SHORT if short else None)
            self._is_short = short

    def restore(self) -> None:
        """Restore Spark's configured wait."""
        # At infinity no rescale is recent, whatever the last tick was.
        self.tick(changing=False, now=float("inf"))


class SourceHiding:
    """Hides executors from the Kafka source; ``works`` is false if none may or can be hidden."""

    def __init__(self, block_managers: BlockManagers, works: bool) -> None:
        self._block_managers = block_managers
        self._last_request: tuple[Collection[str], Collection[str]] | None = None
        self._newcomers: bool | None = None
        """Whether executors are hidden when they register; None before the first request."""
        self.works = works

    def hide_newcomers(self) -> None:
        """Hide executors when they register from now on, if possible."""
        if self.works and self._newcomers is None:
            self._newcomers = self._block_managers.hide_newcomers(True)

    def hide(self, cold: Collection[str], there: Collection[str]) -> None:
        """Hide the ``cold`` executors of those that are ``there``, or all preferred ones if none is
        cold: as long as the source prefers the others, the cold ones get none of its tasks.
        """
        request = set(cold), set(there)
        # Hidden executors stay hidden, so a repeated request would have no effect.
        if not self.works or request == self._last_request:
            return
        self._last_request = request
        preferred = self._block_managers.preferred()
        # Once all are hidden, the source prefers none; until then the warm ones serve it.
        hidden = [executor for executor in preferred if not cold or executor in cold]
        if hidden:
            self.works = self._block_managers.hide(hidden)

    def end(self) -> None:
        """Stop hiding executors when they register."""
        if self._newcomers:
            self._block_managers.hide_newcomers(False)


@dataclass(eq=False)
class TaskHold:
    """Makes tasks wait longer for the executor with their state while the size is changing.

    ``set_wait`` sets Spark's wait, and with None restores the configured one. ``usual`` is the wait
    while the size is stable, None for the configured one; ``longer`` is the wait during a change.
    """

    set_wait: Callable[[str | None], object] = lambda _: None
    usual: str | None = None
    longer: str = "3s"
    _holds: bool = field(default=False, init=False)

    def start(self) -> None:
        """Set the usual wait."""
        if self.usual is not None:
            self.set_wait(self.usual)

    def follow(self, changing: bool) -> None:
        """Hold tasks while the size is changing."""
        if changing != self._holds:
            self._holds = changing
            self.set_wait(self.longer if changing else self.usual)

    def end(self) -> None:
        """Release all tasks, and restore the configured wait."""
        self.follow(changing=False)
        if self.usual is not None:
            self.set_wait(None)
