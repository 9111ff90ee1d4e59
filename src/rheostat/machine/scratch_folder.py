"""Temporary folders that are removed when their process ends; after a ``kill -9``, the creation of
the next one removes them.

Each is named ``rheostat-...`` and contains a file with a kernel lock of its process. Folders
without this file, of other users, or with a held lock stay. Fails when: the file system has no
``flock``.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of reproducible files: ``rheostat`` in XDG_CACHE_HOME or ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rheostat"


def state_folder() -> Path:
    """Return the folder of lasting files: ``rheostat`` in XDG_STATE_HOME or ``~/.local/state``."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "rheostat"


PREFIX = "rheostat-"
LOCK = ".rheostat-lock"


class ScratchFolder:
    """A temporary folder that exists as long as this process and the children that hold ``lock``.

    Pass ``lock`` to ``Child(holds=...)``. It is a context manager. Creating one removes the folders
    of dead processes.
    """

    def __init__(self, purpose: str, place: Path | None = None) -> None:
        self._place = place or Path(tempfile.gettempdir())
        sweep(self._place)
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-", dir=self._place))
        # Name it LOCK only once it is locked: a sweep deletes a folder whose lock is free.
        fresh = self.path / f"{LOCK}.new"
        self.lock = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(self.lock, f"held by process {os.getpid()} of rheostat\n".encode())
        with suppress(OSError):
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        fresh.rename(self.path / LOCK)  # so no process can observe it unlocked

    def remove(self) -> None:
        """Delete the folder; idempotent."""
        if self.lock >= 0:
            _delete(self.path)
            os.close(self.lock)
            self.lock = -1
            sweep(self._place)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def sweep(place: Path) -> list[Path]:
    """Delete the folders in ``place`` that dead processes of this user left; return them."""
    return [folder for folder in sorted(place.glob(f"{PREFIX}*")) if _swept(folder)]


def _swept(folder: Path) -> bool:
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return False
        # Never follow a link: in a shared temporary folder any user can create one.
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        # A held lock means that its process is alive.
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return _delete(folder)
    except OSError:
        return False
    finally:
        os.close(lock)


def _delete(folder: Path) -> bool:
    """Delete the lock last, so that the next sweep retries what cannot be deleted now."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != LOCK:
                entry.unlink()
        if [entry.name for entry in folder.iterdir()] == [LOCK]:
            shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
