"""The kill switch of an application: a file in the checkpoint of a query, or in its journal.

In a checkpoint it reaches a driver in a pod or a container, from wherever the checkpoint can be
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rheostat.errors import BadInput
from rheostat.journal.folder import MEMORY_FILE, STOP_FILE
from rheostat.storage.file_system import FileSystem, is_remote
from rheostat.storage.local_files import LocalFileSystem

HALT_FILE = "_rheostat/halt"
"""Below a checkpoint; Spark looks at no folder there that it does not know."""

_METADATA = "metadata"


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


def pull(target: str) -> str:
    """Write the kill switch into a checkpoint or a journal and return its name.

    Raises BadInput where ``target`` is neither, StorageError where it cannot be changed.
    """
    files, switch = _switch_of(target)
    files.write(switch, "")
    return switch


def take_away(target: str) -> str:
    """Delete the kill switch of a checkpoint or a journal and return its name; raises what ``pull``
    raises.
    """
    files, switch = _switch_of(target)
    files.delete(switch)
    return switch


def _switch_of(target: str) -> tuple[FileSystem, str]:
    files = _files_of(target)
    for file, switch in ((_METADATA, HALT_FILE), (MEMORY_FILE, STOP_FILE)):
        if files.read_text(f"{target.rstrip('/')}/{file}") is not None:
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
