"""The port for files of a local disk, HDFS or an object store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rheostat.errors import RheostatError

_REMOTE = re.compile(r"(?!file:)([A-Za-z][A-Za-z0-9+.-]+):/")
"""A name with the scheme of another file system: ``s3a://bucket/orders``, ``dbfs:/orders``."""

_MOVES_IN_ONE_STEP = frozenset({"hdfs", "viewfs"})
"""Schemes whose renames are one step and whose names can be taken once."""

_CREATES_ONCE = frozenset({"gs", "s3a"})
"""Schemes without such renames whose names can be taken once: by conditional writes."""


class StorageError(RheostatError, OSError):
    """A file cannot be read or changed; the message is one line with its name."""


_GOOGLE_CONNECTOR = (
    "a JAR is missing: set PYSPARK_SUBMIT_ARGS='--jars gcs-connector-3.1.9-shaded.jar"
    " pyspark-shell' (com.google.cloud.bigdataoss:gcs-connector on Maven Central)"
)
_PACKAGES = {
    "abfs": "hadoop-azure",
    "abfss": "hadoop-azure",
    "s3a": "hadoop-aws",
}


def missing_connector(name: str, hadoop_version: str) -> str:
    """Return what to do where Hadoop has no connector for the scheme of a name."""
    scheme = name.partition(":")[0]
    if scheme == "gs":
        return _GOOGLE_CONNECTOR
    if scheme not in _PACKAGES:
        return f"Spark has no file system for {scheme}://"
    return (
        "a package is missing: set PYSPARK_SUBMIT_ARGS='--packages"
        f" org.apache.hadoop:{_PACKAGES[scheme]}:{hadoop_version} pyspark-shell'"
    )


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The size of a file, the time of its last change (Unix time), and whether it is a folder."""

    bytes: int
    changed_ns: int
    is_folder: bool = False

    @property
    def changed_s(self) -> float:
        """The time of the last change in seconds."""
        return self.changed_ns / 1e9


class FileSystem(Protocol):
    """Small text files by their full names (``/a/b``, ``hdfs://host/a/b``, ``s3a://bucket/a``).

    Folders exist as soon as a file in them does. Every method raises ``StorageError`` where the
    file system refuses or cannot be reached, may be called again after a crash, and leaves readers
    with the old or the new file, never with a part of one.

    | | local | HDFS | S3A, GCS |
    |---|---|---|---|
    | ``create`` | atomic (hard link) | atomic (rename) | atomic (conditional PUT) |
    | ``write`` | atomic (rename) | atomic (rename) | atomic (one PUT) |
    | ``append`` | adds bytes, fsync | adds bytes, hflush | replaces the file |
    | ``move`` | atomic | atomic | copy, then delete |
    """

    @property
    def append_limit_bytes(self) -> int:
        """The size above which a file should not be appended to, because each call rewrites it."""

    def status(self, name: str) -> FileStatus | None:
        """Return the status of a file or folder; None if it does not exist."""

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; an empty list if it does not exist."""

    def files_below(self, folder: str) -> Mapping[str, FileStatus]:
        """Return all files below a folder by their names relative to it."""

    def size(self, name: str) -> int | None:
        """Return the bytes of a file, or of all files below a folder; None if it does not exist."""

    def read_text(self, name: str) -> str | None:
        """Return the text of a file (UTF-8); None if it does not exist."""

    def write(self, name: str, text: str) -> None:
        """Write a file, replacing an existing one."""

    def create(self, name: str, text: str) -> bool:
        """Write a file unless it exists (put-if-absent); False, with nothing changed, if it does.

        Durable on return.
        """

    def append(self, name: str, text: str) -> None:
        """Add complete lines to a file with one writer, which is created if necessary.

        Readers see them on return. A torn last line of a crashed writer is ended first.
        """

    def move(self, source: str, target: str) -> None:
        """Give a file another name, replacing an existing file."""

    def delete(self, name: str) -> None:
        """Delete a file, or a folder with its contents; nothing if it does not exist."""

    def flush(self) -> None:
        """Return when everything that was written, moved or deleted is durable."""

    def close(self) -> None:
        """Finish the file that was appended to last."""

    def download(self, folder: str, target: Path) -> None:
        """Copy a folder with its contents to a new folder of this computer."""

    def upload(self, source: Path, name: str) -> None:
        """Copy a file of this computer, replacing an existing file; not atomic."""


def is_remote(name: str) -> bool:
    """Return whether a name belongs to another file system than the disks of this computer."""
    return _REMOTE.match(name) is not None


def moves_in_one_step(name: str) -> bool:
    """Return whether the file system of a name has atomic renames, judged by its scheme."""
    remote = _REMOTE.match(name)
    return remote is None or remote[1] in _MOVES_IN_ONE_STEP


def creates_once(name: str) -> bool:
    """Return whether of two writers that create a name at once the second is refused, judged by
    the scheme of the name.
    """
    remote = _REMOTE.match(name)
    return moves_in_one_step(name) or (remote is not None and remote[1] in _CREATES_ONCE)


def local_path(name: str) -> Path:
    """Return the path of a local name, which may begin with ``file:``."""
    plain = name.removeprefix("file:")
    return Path("/" + plain.lstrip("/") if plain != name else plain)


def numbered(files: FileSystem, folder: str) -> list[int]:
    """Return the numbers among the names in a folder, in order: the batches of a log of Spark."""
    return sorted(int(name) for name in files.names(folder) if name.isdecimal())
