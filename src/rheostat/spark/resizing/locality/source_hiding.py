"""Leaves a Kafka source no executor to prefer while executors arrive.

A source task that waits for a cold or leaving executor holds up a batch for
``spark.locality.wait``, and that wait cannot be shortened where state is placed. There is no way
back: an executor that was hidden stays so.
"""

from __future__ import annotations

from collections.abc import Collection

from rheostat.spark.resizing.rescale_ports import BlockManagers


class SourceHiding:
    """Hides executors from the Kafka source; ``works`` is false where none may be hidden, and after
    Spark has refused it.
    """

    def __init__(self, block_managers: BlockManagers, works: bool) -> None:
        self._block_managers = block_managers
        self._asked: tuple[Collection[str], Collection[str]] | None = None
        self._newcomers: bool | None = None
        """Whether executors are hidden as they come; None before that was asked for."""
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
        if not self.works or request == self._asked:
            return
        self._asked = request
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
