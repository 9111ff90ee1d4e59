"""The kill switch of an application: a file in the checkpoint of a query, or in its journal.

In a checkpoint it reaches a driver in a pod or a container from any place that can write the
checkpoint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rheostat.errors import BadInput
from rheostat.journal.folder import MEMORY_FILE, STOP_FILE
from rheostat.storage.file_system import FileSystem, StorageError, is_remote, moves_in_one_step
from rheostat.storage.local_files import LocalFileSystem

HALT_FILE = "_rheostat/halt"
"""The path below a checkpoint, where Spark ignores unknown folders."""

_METADATA = "metadata"


@dataclass(eq=False)
class KillSwitches:
    """Checks the checkpoints of all running queries for the file; a single one halts the
    application. A checkpoint on an object store, where every request costs money, is checked once
    per ``pause_s`` seconds.
    """

    checkpoints: Callable[[], Iterable[str]]
    files: FileSystem
    pause_s: float = 0.0
    clock: Callable[[], float] = time.monotonic
    _next_s: float = field(default=-math.inf, init=False)
    _pulled: str = field(default="", init=False)

    def pulled(self) -> str:
        """Return the file that existed at the last check; empty without one."""
        return self._pulled

    def poll(self) -> None:
        """Check for the files now; raises StorageError if that fails."""
        files = [f"{checkpoint}/{HALT_FILE}" for checkpoint in self.checkpoints()]
        # The known file first: the end of its query must not resume the other queries.
        known = [self._pulled] if self._pulled else []
        now_s = self.clock()
        is_due = now_s >= self._next_s
        checked = [file for file in (*known, *files) if is_due or moves_in_one_step(file)]
        # By reading, which takes one request in an object store.
        existing = (file for file in checked if self.files.read_text(file) is not None)
        if not self._pulled or self._pulled in checked:
            self._pulled = next(existing, "")
        if is_due:
            self._next_s = now_s + self.pause_s


def pull(target: str) -> str:
    """Write the kill switch into a checkpoint or a journal and return its name.

    Raises BadInput if ``target`` is neither or cannot be reached, StorageError if it cannot be
    changed.
    """
    files, switch = _switch_of(target)
    files.write(switch, "")
    return switch


def remove(target: str) -> str:
    """Delete the kill switch of a checkpoint or journal and return its name, as ``pull``."""
    files, switch = _switch_of(target)
    files.delete(switch)
    return switch


def _switch_of(target: str) -> tuple[FileSystem, str]:
    files = _files_of(target)
    for file, switch in ((_METADATA, HALT_FILE), (MEMORY_FILE, STOP_FILE)):
        try:
            exists = files.read_text(f"{target.rstrip('/')}/{file}") is not None
        except StorageError as fault:
            raise BadInput(str(fault)) from None
        if exists:
            return files, f"{target.rstrip('/')}/{switch}"
    raise BadInput(
        f"{target} is neither the checkpoint of a query (it has no file {_METADATA}) nor a journal"
        f" (no file {MEMORY_FILE}); name one of them, or HOST:PORT of an agent"
    )


def _files_of(target: str) -> FileSystem:
    if not is_remote(target):
        return LocalFileSystem()
    from rheostat.spark.internals.hadoop_file_system import own_files

    return own_files()
