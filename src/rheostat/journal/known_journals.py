"""The journals written on this machine: those in the user's state folder, and a list of others."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rheostat.journal.retention import segments
from rheostat.journal.starts import STARTS_FILE, checkpoints_of, read_events
from rheostat.storage.file_system import is_remote, local_path
from rheostat.storage.local_files import LocalFileSystem

OWN_PLACE = "journal"
"""The folder in the state folder for journals without a configured folder."""

LIST_FILE = "journals.txt"
_MOST = 200


def remember(state_folder: Path, journal: Path) -> None:
    """Add a journal at the end of the list; raises OSError if the list cannot be written."""
    place = str(journal.resolve())
    others = [line for line in _listed(state_folder) if line != place]
    if Path(place).parent == (state_folder / OWN_PLACE).resolve():
        return
    text = "".join(f"{line}\n" for line in [*others, place][-_MOST:])
    LocalFileSystem().write(str(state_folder / LIST_FILE), text)


def known_journals(state_folder: Path) -> list[Path]:
    """Return the journals that still exist, the most recently written first."""
    folders = [*(state_folder / OWN_PLACE).glob("*/"), *map(Path, _listed(state_folder))]
    return sorted(filter(is_journal, folders), key=written_s, reverse=True)


def is_journal(folder: Path) -> bool:
    """Return whether a folder contains a journal."""
    return folder.is_dir() and (bool(segments(folder)) or (folder / STARTS_FILE).is_file())


def journals_of(checkpoint: str, state_folder: Path) -> list[Path]:
    """Return the known journals whose queries have had this checkpoint."""
    place = _plain(checkpoint)
    return [
        folder
        for folder in known_journals(state_folder)
        if any(_plain(known) == place for known in checkpoints_of(read_events(folder)))
    ]


def written_s(folder: Path) -> float:
    """Return the Unix time of the last write to a journal."""
    return max((path.stat().st_mtime for path in folder.glob("*.json*")), default=0.0)


def _listed(state_folder: Path) -> list[str]:
    with suppress(OSError):
        return (state_folder / LIST_FILE).read_text(encoding="utf-8").splitlines()
    return []


def _plain(checkpoint: str) -> str:
    """Return a checkpoint's name in canonical form: an absolute path if it is local."""
    text = checkpoint.rstrip("/")
    return text if is_remote(text) else str(local_path(text).resolve())
