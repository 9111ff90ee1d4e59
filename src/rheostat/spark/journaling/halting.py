"""The kill switch of an application, set or removed through the checkpoint of a query, or through
its journal.
"""

from __future__ import annotations

from rheostat.errors import BadInput
from rheostat.journal.folder import MEMORY_FILE, STOP_FILE
from rheostat.spark.journaling.kill_switches import HALT_FILE
from rheostat.storage.file_system import FileSystem, is_remote
from rheostat.storage.local_files import LocalFileSystem

_METADATA = "metadata"


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
