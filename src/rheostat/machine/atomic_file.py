"""Atomic files: written to a temporary file in the same folder, then renamed in one step."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.errors import BadInput


def require_writable(path: Path) -> None:
    """Raise ``BadInput`` if a file cannot be written to ``path``; nothing is changed."""
    folder = path.resolve().parent
    with _file_errors(path):
        if path.is_dir():
            raise BadInput(f"{path} is a folder; name a file")
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"{path} is not a regular file; name another, or use a pipe")
        if not folder.is_dir():
            raise BadInput(f"{path} cannot be written: No such file or directory")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise BadInput(f"{path} cannot be written: Permission denied")


def write_atomic(path: Path, text: str) -> None:
    """Write a file atomically; raises ``BadInput`` as ``replacing`` does."""
    with replacing(path) as fresh:
        fresh.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a new file next to ``path`` and move it there on success; links are followed.

    Raises ``BadInput`` as ``require_writable`` does, and for a full disk.
    """
    require_writable(path)
    place = path.resolve()
    with _file_errors(path):
        # Use the same folder: a rename is atomic only within one file system.
        number, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:100]}-")
        os.close(number)
        fresh = Path(name)
        try:
            yield fresh
            # mkstemp grants access to the owner only; keep the permissions of the replaced file.
            fresh.chmod(_mode(place))
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """Return the permissions of the file to replace, or those of a new file."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    # The only way to read the mask is to set it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from None
