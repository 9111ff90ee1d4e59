"""A folder that Rheostat owns among a user's files: a marker in it lists what Rheostat has written
there, and nothing else in it is ever replaced or deleted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.atomic_file import write_atomic

MARKER = ".rheostat"


class OwnFolder:
    """A folder that Rheostat created or found empty; ``claim`` returns one."""

    def __init__(self, path: Path, option: str) -> None:
        self.path = path
        self._option = option

    @property
    def names(self) -> tuple[str, ...]:
        """Names that Rheostat has written here and not removed; empty if the marker is damaged."""
        try:
            marker = json.loads((self.path / MARKER).read_text(encoding="utf-8"))
            return tuple(str(name) for name in marker["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return ()

    def ours(self, name: str) -> Path:
        """Record that a file or folder of that name belongs to Rheostat, and return its path.

        Call it before writing. Raises BadInput if a foreign file has that name.
        """
        path, names = self.path / name, self.names
        if name in names:
            return path
        # A broken link does not exist, but it still occupies the name.
        if path.exists() or path.is_symlink():
            raise BadInput(
                f"{path} was not written by Rheostat and is not replaced; move it, or name another"
                f" folder with {self._option}"
            )
        # Marked before it is written, because after a crash in between the file would count as
        # foreign.
        _mark(self.path, (*names, name))
        return path

    def remove_files(self) -> None:
        """Delete the files that Rheostat has written; other files and all folders remain."""
        for name in self.names:
            path = self.path / name
            if path.is_file() or path.is_symlink():
                path.unlink()
        _mark(self.path, tuple(name for name in self.names if (self.path / name).exists()))


def claim(path: Path, option: str) -> OwnFolder:
    """Return an owned folder: one that is already marked, an empty one, or a new one.

    ``option`` is the user's option for it. Raises BadInput, with nothing changed, for a file, for a
    folder with contents but without a marker, and if it cannot be written.
    """
    check_claim(path, option)
    with _folder_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    # Never replace an old marker, because it lists what Rheostat has written before.
    if not (path / MARKER).exists():
        _mark(path, ())
    return OwnFolder(path, option)


def check_claim(path: Path, option: str) -> None:
    """Raise BadInput if ``claim`` would; nothing is created or changed."""
    if path.exists() and not path.is_dir():
        raise BadInput(f"{option} {path} is a file; name a folder")
    if is_marked(path):
        return
    with _folder_errors(path):
        held = sorted(path.iterdir()) if path.exists() else []
    if held:
        raise BadInput(
            f"{option} {path} holds {held[0].name}, and Rheostat did not make this folder; name a"
            " new or an empty one"
        )


def remove_marked(path: Path) -> None:
    """Delete a complete folder that only Rheostat uses, including the files of its child processes,
    such as a cluster's; does nothing without a marker.
    """
    if is_marked(path):
        shutil.rmtree(path, ignore_errors=True)


def is_marked(path: Path) -> bool:
    """Return whether a folder is marked as Rheostat's."""
    try:
        return "written by" in json.loads((path / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def _mark(path: Path, names: tuple[str, ...]) -> None:
    write_atomic(path / MARKER, json.dumps({"written by": "rheostat", "files": names}) + "\n")


@contextmanager
def _folder_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"the folder {path} cannot be used: {error.strerror}") from None
