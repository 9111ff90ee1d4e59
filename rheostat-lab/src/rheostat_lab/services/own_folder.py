"""A folder of ours among a user's files: a marker in it names what we have written there, and
nothing else in it is ever replaced or deleted.
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
    """A folder that was made by us or found empty; ``claim`` returns one."""

    def __init__(self, path: Path, option: str) -> None:
        self.path = path
        self._option = option

    @property
    def names(self) -> tuple[str, ...]:
        """What we have written here and not removed since; nothing where the marker is torn."""
        try:
            marker = json.loads((self.path / MARKER).read_text(encoding="utf-8"))
            return tuple(str(name) for name in marker["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return ()

    def ours(self, name: str) -> Path:
        """Write down that a file or folder of that name is ours and return its path.

        To be called before it is written. Raises ``BadInput`` where somebody else's has that name.
        """
        path, names = self.path / name, self.names
        if name in names:
            return path
        # A link to nowhere does not exist, but has the name all the same.
        if path.exists() or path.is_symlink():
            raise BadInput(
                f"{path} was not written by Rheostat and is not replaced; move it, or name another"
                f" folder with {self._option}"
            )
        # Marked before it is written: after a crash in between, the file would count as somebody
        # else's.
        _mark(self.path, (*names, name))
        return path

    def remove_files(self) -> None:
        """Delete the files that we have written; what else is here stays, folders too."""
        for name in self.names:
            path = self.path / name
            if path.is_file() or path.is_symlink():
                path.unlink()
        _mark(self.path, tuple(name for name in self.names if (self.path / name).exists()))


def claim(path: Path, option: str) -> OwnFolder:
    """Return a folder of ours: one that we have marked before, an empty one, or one made now.

    ``option`` is what the user names it with. Raises ``BadInput``, with nothing changed, for a file
    and for a folder that holds anything and no marker of ours; and where it cannot be written.
    """
    check_claim(path, option)
    with _folder_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    # Never anew over an old marker: it names what we have written before.
    if not (path / MARKER).exists():
        _mark(path, ())
    return OwnFolder(path, option)


def check_claim(path: Path, option: str) -> None:
    """Raise ``BadInput`` where ``claim`` would; nothing is made or changed."""
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
    """Delete a whole folder that is ours alone, with what others have written there for us, such as
    a cluster's; does nothing where it has no marker.
    """
    if is_marked(path):
        shutil.rmtree(path, ignore_errors=True)


def is_marked(path: Path) -> bool:
    """Tell whether a folder is ours."""
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
