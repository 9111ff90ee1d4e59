"""Every change that a repartition makes to a file; each one is atomic.

A checkpoint's log entries are written without a checksum file: Hadoop's local file system reads a
file without one, and refuses a file beside a wrong one. So a leftover one is deleted before.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.machine.lease import linked


class Disk:
    """Changes files of this computer; every method may be called again after a crash.

    Raises RheostatError, with the file's name, where the system refuses.
    """

    def append(self, path: Path, line: str) -> None:
        """Add a line to a file and wait until it is on the disk; a torn line before it is ended."""
        with _disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab+") as file:
                torn = file.tell() > 0 and _last_byte(path) != b"\n"
                file.write((b"\n" if torn else b"") + line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def take(self, path: Path, text: str) -> bool:
        """Write a file in one step and wait until it is on the disk; False, with nothing changed,
        where there is one.
        """
        with _disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_name(f".{path.name}.rheostat.tmp")
            with fresh.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            try:
                return linked(fresh, path)
            finally:
                fresh.unlink(missing_ok=True)
                _sync(path.parent)

    def write_entry(self, path: Path, text: str) -> bool:
        """Write an entry of a checkpoint's log as ``take`` does; a checksum without its file is
        deleted first.
        """
        if path.exists():
            return False
        with _disk_errors(path):
            _checksum(path).unlink(missing_ok=True)
        return self.take(path, text)

    def remove(self, path: Path) -> None:
        """Delete a log's entry and its checksum, and wait until that is on the disk; nothing where
        there is none.
        """
        with _disk_errors(path):
            path.unlink(missing_ok=True)
            _checksum(path).unlink(missing_ok=True)
            if path.parent.is_dir():
                _sync(path.parent)

    def drop(self, path: Path) -> None:
        """Delete a file; nothing where there is none. ``flush`` waits for it."""
        with _disk_errors(path):
            path.unlink(missing_ok=True)

    def move(self, source: Path, target: Path) -> None:
        """Put a file in its place, in one step."""
        with _disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)

    def make(self, folder: Path) -> None:
        """Make a folder; nothing where it is there."""
        with _disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def mirror(self, source: Path, target: Path) -> None:
        """Make a folder with the same files as ``source`` under other names: links, no bytes."""
        fresh = target.with_name(f"{target.name}.part")
        with _disk_errors(target):
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, fresh, copy_function=_link)
            fresh.replace(target)

    def clear(self, folder: Path) -> None:
        """Delete a folder with all that is in it; nothing where there is none."""
        with _disk_errors(folder):
            if folder.exists():
                shutil.rmtree(folder)

    def touch(self, path: Path) -> None:
        """Renew a file's time of change."""
        with _disk_errors(path):
            os.utime(path)

    def flush(self) -> None:
        """Wait until all that was written is on the disk."""
        os.sync()


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links, or too many of them
        Path(target).symlink_to(Path(source).resolve())


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def _checksum(path: Path) -> Path:
    """Return where Hadoop's local file system keeps a file's checksum."""
    return path.with_name(f".{path.name}.crc")


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RheostatError(f"{path} cannot be changed: {error.strerror or error}") from None
