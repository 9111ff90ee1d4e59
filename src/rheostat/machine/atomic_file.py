"""Atomic files: written beside their place, then renamed in one step."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.errors import BadInput


def require_writable(path: Path) -> None:
    """Raise ``BadInput`` where ``path`` cannot be replaced by a file; nothing is changed."""
    folder = path.resolve().parent
    with _file_errors(path):
        if path.is_dir():
            raise BadInput(f"{path} is a folder; name a file")
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"{path} is no regular file; name another, or use a pipe")
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
    """Yield a new file beside ``path`` and put it in place on success; links are followed.

    Raises ``BadInput`` as ``require_writable`` does, and for a full disk.
    """
    require_writable(path)
    place = path.resolve()
    with _file_errors(path):
        # In the same folder: only within one file system does a rename replace in one step.
        number, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:100]}-")
        os.close(number)
        fresh = Path(name)
        try:
            yield fresh
            # mkstemp gives rights to the owner only; the file should have those it had.
            fresh.chmod(_mode(place))
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """Return the rights of the file that is replaced, or those that a new one would have."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from None
