"""The kill switch on the checkpoint's file system: it reaches a driver that runs in a pod or a
container, from wherever the checkpoint can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rheostat.storage.file_system import FileSystem

HALT_FILE = "_rheostat/halt"
"""Below a checkpoint; Spark looks at no folder there that it does not know."""


class KillSwitches:
    """Looks for the file in the checkpoint of each running query; one of them halts the
    application.
    """

    def __init__(self, checkpoints: Callable[[], Iterable[str]], files: FileSystem) -> None:
        self._checkpoints = checkpoints
        self._files = files
        self._pulled = ""

    def pulled(self) -> str:
        """Return the one that was there at the last look; empty where there was none."""
        return self._pulled

    def look(self) -> None:
        """Look for them now; raises StorageError where that cannot be done."""
        files = [f"{checkpoint}/{HALT_FILE}" for checkpoint in self._checkpoints()]
        # The one that halts first: its query may have ended, and must not resume the others so.
        known = [self._pulled] if self._pulled else []
        # Read, because an object store answers that with one request.
        there = (file for file in (*known, *files) if self._files.read_text(file) is not None)
        self._pulled = next(there, "")
