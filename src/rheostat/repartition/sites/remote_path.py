"""A path on a remote file system, with the methods of ``pathlib.Path`` that are used here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rheostat.spark.internals.file_systems.hadoop_system import HadoopSystem


class Stat(NamedTuple):
    """The status of a file, with the names that ``pathlib`` uses."""

    st_size: int
    st_mtime_ns: int

    @property
    def st_mtime(self) -> float:
        """Seconds since 1970."""
        return self.st_mtime_ns / 1e9


class RemotePath:
    """A path on such a file system, with the methods of ``pathlib.Path`` that are used here; they
    raise OSError as those do.
    """

    def __init__(self, system: HadoopSystem, full: str) -> None:
        self._system = system
        self._full = full

    def __truediv__(self, inside: object) -> RemotePath:
        return RemotePath(self._system, f"{self._full}/{inside}")

    def __str__(self) -> str:
        return self._full

    @property
    def name(self) -> str:
        """The last part of the name."""
        return self._full.rsplit("/", 1)[1]

    def with_name(self, name: str) -> RemotePath:
        """Return another name in the same folder."""
        return RemotePath(self._system, f"{self._full.rsplit('/', 1)[0]}/{name}")

    def exists(self) -> bool:
        """Tell whether there is such a file or folder."""
        return self._system.status(self) is not None

    def is_file(self) -> bool:
        """Tell whether there is such a file."""
        status = self._system.status(self)
        return status is not None and bool(status.isFile())

    def is_dir(self) -> bool:
        """Tell whether there is such a folder."""
        status = self._system.status(self)
        return status is not None and bool(status.isDirectory())

    def stat(self) -> Stat:
        """Return size and time of the last change."""
        status = self._system.status(self)
        if status is None:
            raise FileNotFoundError(self._full)
        return Stat(int(status.getLen()), int(status.getModificationTime()) * 1_000_000)

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return a small file's text, which is UTF-8."""
        return self._system.text(self)

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield what is in a folder."""
        for name in self._system.listing(self):
            yield self / name

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """Yield all that is in a folder; nothing where there is none. ``*`` is the only pattern."""
        if pattern != "*":
            raise NotImplementedError(pattern)
        return self.iterdir() if self.is_dir() else iter(())

    def rename(self, target: RemotePath) -> None:
        """Give a file another name."""
        if not self.is_file():
            raise FileNotFoundError(self._full)
        self._system.rename(self, target, over=True)

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete a file."""
        if not missing_ok and not self.exists():
            raise FileNotFoundError(self._full)
        self._system.delete(self)
