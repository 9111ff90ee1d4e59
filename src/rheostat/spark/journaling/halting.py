"""The kill switch of an application, pulled or taken away through the checkpoint of a query."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from rheostat.errors import BadInput
from rheostat.spark.journaling.kill_switches import HALT_FILE
from rheostat.spark.settings.sizing_settings import local_or_far

_METADATA = "metadata"


class _Folder(Protocol):
    def exists(self, name: str) -> bool: ...

    def write(self, name: str, text: str) -> None: ...

    def delete(self, name: str) -> None: ...


def pull(checkpoint: str) -> str:
    """Write the kill switch into a checkpoint and return its name.

    Raises BadInput where there is no checkpoint, OSError with what the file system says.
    """
    folder = _of(checkpoint)
    folder.write(HALT_FILE, "")
    return f"{checkpoint.rstrip('/')}/{HALT_FILE}"


def take_away(checkpoint: str) -> str:
    """Delete the kill switch of a checkpoint and return its name; raises what ``pull`` raises."""
    folder = _of(checkpoint)
    folder.delete(HALT_FILE)
    return f"{checkpoint.rstrip('/')}/{HALT_FILE}"


def _of(checkpoint: str) -> _Folder:
    place = local_or_far(checkpoint)
    if isinstance(place, Path):
        folder: _Folder = _Local(place)
    else:
        from rheostat.spark.internals.file_systems.hadoop_folder import own_folder

        folder = own_folder(place)
    if not folder.exists(_METADATA):
        raise BadInput(f"{checkpoint} is no checkpoint of a query: it has no file {_METADATA}")
    return folder


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
