"""Another program that asks Spark for executors: a plugin, a listener, the script itself."""

from __future__ import annotations

import logging
from collections.abc import Callable

from rheostat.rescaling.conflict_history import MOST, OTHER, WITHIN_S, ConflictHistory

_log = logging.getLogger("rheostat")


class ConflictDetector:
    """Sees it by what the cluster manager was asked for last, looked at before Rheostat asks again.

    ``requested`` returns that; None: nobody knows. Dynamic allocation that moves the size is not
    met here, beside it Rheostat only watches.
    """

    def __init__(self, requested: Callable[[], int | None]) -> None:
        self._requested = requested
        self._asked: int | None = None
        self._found: list[int] = []
        self._hand = ConflictHistory()
        self._said = False

    def look(self) -> None:
        """See whether the total is still what was asked for last."""
        if self._asked is None:
            return
        found = self._requested()
        # An application master that was started again knows of no total: that is nobody's doing.
        if found is not None and found != self._asked:
            self._found.append(found)

    def asks(self, total: int) -> None:
        """Take what Rheostat asks for now."""
        self._asked = total

    def words(self, now: float) -> str:
        """Return in words which sizes another program has asked for since the last call, empty
        where none has; of repeated requests a warning, which is logged the first time.
        """
        sizes, self._found = self._found, []
        for size in sizes:
            self._hand = self._hand.recorded(size, now)
        if not self._hand.is_conflict(now):
            self._said = False
            return f"{OTHER} {sizes[-1]}, Rheostat for {self._asked} again" if sizes else ""
        said = (
            f"{OTHER} executors {MOST} times within {WITHIN_S:g} s, most recently for"
            f" {self._hand.size}, while Rheostat asks for {self._asked}; turn off the plugin,"
            " or the line of the script, that calls requestTotalExecutors, requestExecutors or"
            " killExecutors. The job keeps running, and Rheostat repeats its request each time"
        )
        if not self._said:
            self._said = True
            _log.warning("rheostat: %s", said)
        return said
