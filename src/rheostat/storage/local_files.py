"""The files of this computer."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.storage.file_system import FileStatus, StorageError, local_path

TEMPORARY = ".rheostat.tmp"
"""How the name of a file ends that is being written; a killed process leaves it."""


class LocalFileSystem:
    """The port ``FileSystem`` on local disks; where ``durable``, ``create`` and ``append`` wait for
    the disk (fsync).

    Hadoop's local file system keeps a checksum next to each file and refuses a file whose checksum
    is wrong, but accepts one without. ``create``, ``write`` and ``delete`` therefore delete it.
    """

    append_limit_bytes = 1 << 40

    def __init__(self, *, durable: bool = True) -> None:
        self._durable = durable
        # Unique, because two processes may write the same name at the same time.
        self._suffix = f"{uuid.uuid4().hex[:12]}{TEMPORARY}"

    def status(self, name: str) -> FileStatus | None:
        """Return the status of a file or folder; None if it does not exist."""
        path = local_path(name)
        with _errors(name, "read"):
            try:
                stat = path.stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            return FileStatus(stat.st_size, stat.st_mtime_ns, is_folder=path.is_dir())

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; an empty list if it does not exist."""
        with _errors(folder, "read"):
            try:
                return sorted(entry.name for entry in local_path(folder).iterdir())
            except (FileNotFoundError, NotADirectoryError):
                return []

    def files_below(self, folder: str) -> dict[str, FileStatus]:
        """Return all files below a folder; one that disappears meanwhile is left out."""
        top, below = local_path(folder), {}
        for root, _, names in os.walk(top):
            for name in names:
                path = Path(root, name)
                status = self.status(str(path))
                if status is not None:
                    below[path.relative_to(top).as_posix()] = status
        return below

    def size(self, name: str) -> int | None:
        """Return the bytes of a file, or of all files below a folder; None if it does not exist."""
        status = self.status(name)
        if status is None or not status.is_folder:
            return None if status is None else status.bytes
        return sum(file.bytes for file in self.files_below(name).values())

    def read_text(self, name: str) -> str | None:
        """Return the text of a file (UTF-8); None if it does not exist."""
        with _errors(name, "read"):
            try:
                return local_path(name).read_text(encoding="utf-8", errors="replace")
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None

    def write(self, name: str, text: str) -> None:
        """Write a file, replacing an existing one; durable after ``flush``."""
        with self._fresh(name, text) as (fresh, path):
            fresh.replace(path)

    def create(self, name: str, text: str) -> bool:
        """Write a file unless it exists; durable on return."""
        if local_path(name).exists():
            return False
        with self._fresh(name, text, durable=self._durable) as (fresh, path):
            created = _linked(fresh, path)
            if self._durable:
                _sync(path.parent)
            return created

    def append(self, name: str, text: str) -> None:
        """Add complete lines to a file, which is created if necessary."""
        path = local_path(name)
        with _errors(name):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab+") as file:
                if file.tell() > 0:
                    file.seek(-1, os.SEEK_END)
                    text = text if file.read(1) == b"\n" else f"\n{text}"  # a line was torn
                file.write(text.encode())
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())

    def move(self, source: str, target: str) -> None:
        """Give a file another name in one step; its checksum is a file of its own."""
        path = local_path(target)
        with _errors(target):
            path.parent.mkdir(parents=True, exist_ok=True)
            local_path(source).replace(path)

    def delete(self, name: str) -> None:
        """Delete a file, or a folder with its contents; durable after ``flush``."""
        path = local_path(name)
        with _errors(name):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
                return
            path.unlink(missing_ok=True)
            _checksum(path).unlink(missing_ok=True)

    def flush(self) -> None:
        """Return when everything that was written, moved or deleted is durable."""
        os.sync()

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def download(self, folder: str, target: Path) -> None:
        """Copy a folder with its contents."""
        with _errors(folder, "read"):
            shutil.copytree(local_path(folder), target)

    def upload(self, source: Path, name: str) -> None:
        """Copy a file."""
        path = local_path(name)
        with _errors(name):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, path)

    def make_folder(self, name: str) -> None:
        """Create an empty folder."""
        with _errors(name):
            local_path(name).mkdir(parents=True, exist_ok=True)

    def link_tree(self, source: str, target: str) -> None:
        """Create a folder with links to the files below another one; it appears when complete."""
        place = local_path(target)
        fresh = place.with_name(f"{place.name}.part")
        with _errors(target):
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(local_path(source), fresh, copy_function=_link)
            fresh.replace(place)

    @contextmanager
    def _fresh(self, name: str, text: str, durable: bool = False) -> Iterator[tuple[Path, Path]]:
        """Write a temporary file next to a path; hand out both."""
        path = local_path(name)
        fresh = path.with_name(f".{path.name[:100]}.{self._suffix}")
        with _errors(name):
            path.parent.mkdir(parents=True, exist_ok=True)
            _checksum(path).unlink(missing_ok=True)
            try:
                with fresh.open("w", encoding="utf-8") as file:
                    file.write(text)
                    if durable:
                        file.flush()
                        os.fsync(file.fileno())
                yield fresh, path
            finally:
                fresh.unlink(missing_ok=True)


def _linked(fresh: Path, path: Path) -> bool:
    """Give a file a name unless it is taken, in one step wherever there are hard links."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        fresh.replace(path)
    return True


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links, or too many of them
        Path(target).symlink_to(Path(source).resolve())


def _checksum(path: Path) -> Path:
    """Return where Hadoop's local file system keeps the checksum of a file."""
    return path.with_name(f".{path.name}.crc")


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def _errors(name: str, done: str = "changed") -> Iterator[None]:
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{name} cannot be {done}: {error.strerror or error}") from None
