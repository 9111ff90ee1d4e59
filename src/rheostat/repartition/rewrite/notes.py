"""What a rewrite has finished before it was interrupted: a file per group of partitions and store.

The task that has committed a group writes it, in one step, as the lines that it reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rheostat.storage.file_system import FileSystem


def noted(
    folder: str, operator: int, store: str, residue: int, part: int = 0, parts: int = 1
) -> list[str]:
    """Return the lines of a slice of a group that is done; none for one that is not, or without a
    folder.
    """
    name = f"{operator}-{store}-{residue}" + (f".{part}of{parts}" if parts > 1 else "")
    note = Path(folder) / name
    return note.read_text("utf-8").splitlines() if folder and note.is_file() else []


def finished_places(files: FileSystem, folder: str) -> Iterator[str]:
    """Yield the folders, below a checkpoint, of all partitions of stores that are done."""
    for note in files.names(folder):
        if note.startswith("."):
            continue
        for line in (files.read_text(f"{folder}/{note}") or "").splitlines():
            kind, operator, name, partition, *_ = line.split("\t")
            if kind == "written":
                place = f"state/{operator}/{partition}"
                yield place if name == "default" else f"{place}/{name}"
