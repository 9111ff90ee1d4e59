"""A remote file system, backed by a local folder, whose process can die at any change."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rheostat.storage.file_system import FileStatus
from rheostat.storage.local_files import LocalFileSystem


class Killed(BaseException):
    """The process was killed: nothing further happens."""


class RemoteFolder:
    """The port ``FileSystem``; from change ``dies_at`` on nothing changes any more.

    It is not a ``LocalFileSystem``, so files must be downloaded for local work.
    """

    append_limit_bytes = 1 << 20

    def __init__(self, dies_at: int | None = None) -> None:
        self.changes = 0
        self._dies_at = dies_at
        self._files = LocalFileSystem(durable=False)

    def _change(self) -> LocalFileSystem:
        if self._dies_at is not None and self.changes >= self._dies_at:
            raise Killed
        self.changes += 1
        return self._files

    def status(self, name: str) -> FileStatus | None:
        return self._files.status(name)

    def names(self, folder: str) -> list[str]:
        return self._files.names(folder)

    def files_below(self, folder: str) -> Mapping[str, FileStatus]:
        return self._files.files_below(folder)

    def size(self, name: str) -> int | None:
        return self._files.size(name)

    def read_text(self, name: str) -> str | None:
        return self._files.read_text(name)

    def write(self, name: str, text: str) -> None:
        self._change().write(name, text)

    def create(self, name: str, text: str) -> bool:
        return self._change().create(name, text)

    def append(self, name: str, text: str) -> None:
        self._change().append(name, text)

    def move(self, source: str, target: str) -> None:
        self._change().move(source, target)

    def delete(self, name: str) -> None:
        self._change().delete(name)

    def flush(self) -> None:
        """Do nothing: no write is pending."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def download(self, folder: str, target: Path) -> None:
        self._files.download(folder, target)

    def upload(self, source: Path, name: str) -> None:
        self._change().upload(source, name)
