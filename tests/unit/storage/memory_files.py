"""A file system in memory with its own clock, which can become unreachable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rheostat.storage.file_system import FileStatus, StorageError


class MemoryFileSystem:
    """The port ``FileSystem`` with names and texts; it is unreachable while ``lost``."""

    def __init__(self, append_limit_bytes: int = 1 << 20, clock: Callable[[], float] = float):
        self.contents: dict[str, str] = {}
        self.times: dict[str, float] = {}
        self.append_limit_bytes = append_limit_bytes
        self.lost = False
        self._clock = clock

    def _reach(self) -> None:
        if self.lost:
            raise StorageError("nobody answers")

    def _set(self, name: str, text: str) -> None:
        self._reach()
        self.contents[name], self.times[name] = text, self._clock()

    def folder(self, folder: str) -> dict[str, str]:
        """Return the texts of the files in a folder by file name."""
        texts = {n.removeprefix(f"{folder}/"): text for n, text in self.contents.items()}
        return {name: text for name, text in texts.items() if "/" not in name}

    def status(self, name: str) -> FileStatus | None:
        self._reach()
        if name in self.contents:
            return FileStatus(len(self.contents[name]), int(self.times[name] * 1e9))
        return FileStatus(0, 0, is_folder=True) if self.files_below(name) else None

    def names(self, folder: str) -> list[str]:
        return sorted({name.partition("/")[0] for name in self.files_below(folder)})

    def files_below(self, folder: str) -> dict[str, FileStatus]:
        self._reach()
        return {
            name.removeprefix(f"{folder}/"): FileStatus(len(text), int(self.times[name] * 1e9))
            for name, text in self.contents.items()
            if name.startswith(f"{folder}/")
        }

    def size(self, name: str) -> int | None:
        status = self.status(name)
        if status is None or not status.is_folder:
            return None if status is None else status.bytes
        return sum(file.bytes for file in self.files_below(name).values())

    def read_text(self, name: str) -> str | None:
        self._reach()
        return self.contents.get(name)

    def write(self, name: str, text: str) -> None:
        self._set(name, text)

    def create(self, name: str, text: str) -> bool:
        self._reach()
        if name in self.contents:
            return False
        self._set(name, text)
        return True

    def append(self, name: str, text: str) -> None:
        before = self.contents.get(name, "")
        torn = "\n" if before and not before.endswith("\n") else ""
        self._set(name, before + torn + text)

    def move(self, source: str, target: str) -> None:
        self._set(target, self.contents.pop(source))

    def delete(self, name: str) -> None:
        self._reach()
        gone = [file for file in self.contents if file == name or file.startswith(f"{name}/")]
        for file in gone:
            del self.contents[file]

    def flush(self) -> None:
        self._reach()

    def close(self) -> None:
        self._reach()

    def download(self, folder: str, target: Path) -> None:
        for name in self.files_below(folder):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.contents[f"{folder}/{name}"])

    def upload(self, source: Path, name: str) -> None:
        self._set(name, source.read_text())
