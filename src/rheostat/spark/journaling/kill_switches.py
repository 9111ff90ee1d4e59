"""The kill switch on the checkpoint's file system: it reaches a driver that runs in a pod or a
container, from wherever the checkpoint can be written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

_log = logging.getLogger("rheostat")
HALT_FILE = "_rheostat/halt"
"""Below a checkpoint; Spark looks at no folder there that it does not know."""


class KillSwitches:
    """Looks for the file in the checkpoint of each running query; one of them halts the
    application.

    ``exists`` raises OSError where a checkpoint cannot be looked at.
    """

    def __init__(
        self, checkpoints: Callable[[], Iterable[str]], exists: Callable[[str], bool]
    ) -> None:
        self._checkpoints = checkpoints
        self._exists = exists
        self._pulled: str | None = None

    def pulled(self) -> bool:
        """Tell whether one was there when it was looked for last."""
        return self._pulled is not None

    def look(self) -> None:
        """Look for them now; raises OSError where that cannot be done."""
        for checkpoint in self._checkpoints():
            file = f"{checkpoint}/{HALT_FILE}"
            if self._pulled is None and self._exists(file):
                self._pulled = file
                _log.warning("rheostat: %s is there: nothing is decided any more", file)
