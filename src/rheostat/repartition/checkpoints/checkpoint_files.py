"""Where a checkpoint is read from: a folder of this computer, or anything with these methods."""

from __future__ import annotations

import os
import re
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from rheostat.errors import BadInput

_ONE_STEP = frozenset({"hdfs", "viewfs"})
"""Where a rename is one step and a name can be taken once. Object stores promise neither."""

_COPY = (
    "copy the checkpoint of the stopped query to a folder here, repartition that, and copy it back"
)

_ELSEWHERE = re.compile(r"(?!file:)([A-Za-z][A-Za-z0-9+.-]+):/")
"""A name with the scheme of a file system: ``s3a://bucket/orders``, ``dbfs:/orders``."""


class CheckpointFiles(Protocol):
    """Reads a checkpoint; ``Files`` of ``rheostat.spark.internals.file_systems`` does it wherever
    Spark can.
    """

    def listing(self, folder: str) -> list[str]:
        """Return the names in a folder; none if it is not there."""
        ...

    def text(self, file: str) -> str | None:
        """Return a small file's text; None if it is not there."""
        ...

    def bytes_in(self, folder: str) -> int | None:
        """Return the bytes below a folder, or of a file; None if it is not there."""
        ...


class LocalFiles:
    """The files of this computer; a name may begin with ``file:``. A running query may delete any
    of them meanwhile.
    """

    def listing(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; none if it is not there."""
        path = local_path(folder)
        return sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []

    def text(self, file: str) -> str | None:
        """Return a small file's text; None if it is not there."""
        try:
            return local_path(file).read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def bytes_in(self, folder: str) -> int | None:
        """Return the bytes below a folder, or of a file; None if it is not there."""
        path = local_path(folder)
        if path.is_dir():
            inside = (Path(root, name) for root, _, names in os.walk(path) for name in names)
            return sum(_file_bytes(file) or 0 for file in inside)
        return _file_bytes(path)


def _file_bytes(path: Path) -> int | None:
    """Return the bytes of a file; None for anything else."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_size if S_ISREG(status.st_mode) else None


def local_path(name: str) -> Path:
    """Return the path of a name on this computer, without its ``file:``."""
    plain = name.removeprefix("file:")
    return Path("/" + plain.lstrip("/") if plain != name else plain)


def local_folder(location: str) -> Path:
    """Return a checkpoint's folder on this computer; raises BadInput where there is none."""
    if not is_local(location):
        raise BadInput(f"{location} is not on this computer's disks: {_COPY}")
    folder = local_path(location.rstrip("/") or location)
    if not location or not folder.is_dir():
        named = location or "an empty name"
        raise BadInput(f"{named} is no folder: name the checkpointLocation of a query")
    return folder.resolve()


def refused_place(name: str) -> str | None:
    """Return why a checkpoint cannot be repartitioned where it is; None if it can."""
    elsewhere = _ELSEWHERE.match(name)
    if elsewhere is None or elsewhere[1] in _ONE_STEP:
        return None
    return f"{name} is neither on this computer's disks nor on HDFS: {_COPY}"


def is_local(name: str) -> bool:
    """Tell whether a checkpoint's name means a folder of this computer."""
    return _ELSEWHERE.match(name) is None
