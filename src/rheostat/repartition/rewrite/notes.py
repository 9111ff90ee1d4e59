"""What a rewrite has finished before it was interrupted: a file per group of partitions and store.

The task that has committed a group writes it, in one step, as the lines that it reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def noted(
    folder: str, operator: int, store: str, residue: int, part: int = 0, parts: int = 1
) -> list[str]:
    """Return the lines of a slice of a group that is done; none for one that is not, or without a
    folder.
    """
    name = f"{operator}-{store}-{residue}" + (f".{part}of{parts}" if parts > 1 else "")
    note = Path(folder) / name
    return note.read_text("utf-8").splitlines() if folder and note.is_file() else []


def finished_places(folder: Path) -> Iterator[str]:
    """Yield the folders, below a checkpoint, of all partitions of stores that are done."""
    for note in folder.iterdir():
        if note.name.startswith("."):
            continue
        for line in note.read_text("utf-8").splitlines():
            kind, operator, name, partition, *_ = line.split("\t")
            if kind == "written":
                place = f"state/{operator}/{partition}"
                yield place if name == "default" else f"{place}/{name}"
