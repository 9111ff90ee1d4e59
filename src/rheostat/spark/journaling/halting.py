"""The kill switch of an application, set or removed through the checkpoint of a query, or through
its journal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from rheostat.errors import BadInput
from rheostat.journal.folder import MEMORY_FILE, STOP_FILE
from rheostat.settings import local_or_far
from rheostat.spark.journaling.kill_switches import HALT_FILE

_METADATA = "metadata"


class _Folder(Protocol):
    def exists(self, name: str) -> bool: ...

    def write(self, name: str, text: str) -> None: ...

    def delete(self, name: str) -> None: ...


def pull(target: str) -> str:
    """Write the kill switch into a checkpoint or a journal and return its name.

    Raises BadInput where ``target`` is neither, OSError with what the file system says.
    """
    folder, switch = _of(target)
    folder.write(switch, "")
    return f"{target.rstrip('/')}/{switch}"


def take_away(target: str) -> str:
    """Delete the kill switch of a checkpoint or a journal and return its name; raises what ``pull``
    raises.
    """
    folder, switch = _of(target)
    folder.delete(switch)
    return f"{target.rstrip('/')}/{switch}"


def _of(target: str) -> tuple[_Folder, str]:
    place = local_or_far(target)
    if isinstance(place, Path):
        folder: _Folder = _Local(place)
    else:
        from rheostat.spark.internals.file_systems.hadoop_folder import own_folder

        folder = own_folder(place)
    for file, switch in ((_METADATA, HALT_FILE), (MEMORY_FILE, STOP_FILE)):
        if folder.exists(file):
            return folder, switch
    raise BadInput(
        f"{target} is neither the checkpoint of a query (it has no file {_METADATA}) nor a journal"
        f" (no file {MEMORY_FILE}); name one of them, or HOST:PORT of an agent"
    )


class _Local:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def exists(self, name: str) -> bool:
        return (self._folder / name).is_file()

    def write(self, name: str, text: str) -> None:
        (self._folder / name).parent.mkdir(exist_ok=True)
        (self._folder / name).write_text(text)

    def delete(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)
