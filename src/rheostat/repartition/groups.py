"""Computes which old partitions map to which new ones, and so which tasks need no shuffle.

A row's partition is its hash modulo their number. With g the greatest common divisor of the old and
the new number, the old partitions of a residue modulo g map to the new ones of the same residue:
from 8 to 16 partitions, partition 3 maps to 3 and 11 only.

A finished group leaves a note atomically, so that an interrupted rewrite can be resumed: one file
per group and store with the lines that its task reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from pathlib import Path

from rheostat.storage.file_system import FileSystem


@dataclass(frozen=True, slots=True)
class Group:
    """Partitions that exchange rows only among each other."""

    old: int
    new: int
    residue: int
    divisor: int

    @property
    def sources(self) -> range:
        """The group's old partitions."""
        return range(self.residue, self.old, self.divisor)

    @property
    def targets(self) -> range:
        """The group's new partitions."""
        return range(self.residue, self.new, self.divisor)


def groups(old: int, new: int) -> Iterator[Group]:
    """Yield the groups of a change from ``old`` to ``new`` partitions."""
    divisor = gcd(old, new)
    for residue in range(divisor):
        yield Group(old, new, residue, divisor)


READ, COPY, SHUFFLE = 0.35, 0.85, 3.0
"""Processor time of a row in microseconds: to read its key and compute its partition, to copy it,
and to send it through a shuffle instead. The first two are estimates from a profile of 8 to 16
partitions (their sum is measured), the third is not measured."""

MOST_OPEN = 64
"""Maximum number of open partitions of RocksDB per task; each needs a few MB outside the heap."""

MOST_LOADED = 8
"""Maximum number of open partitions of an in-memory provider; each is completely in the heap."""


def slices(old: int, new: int, stores: int, slots: int, *, in_memory: bool) -> int:
    """Return into how many tasks a group is divided; 0 if rows should go through a shuffle.

    One task per group reads and writes every row once. Otherwise idle slots can share a group's new
    partitions: each such task reads all keys of the group, and copies its own rows. ``in_memory``
    is a provider that loads complete partitions into the heap: its tasks open no more of them than
    necessary, and no two tasks open the same one.
    """
    divisor = gcd(old, new)
    tasks = divisor * stores
    if in_memory:
        if old // divisor > MOST_LOADED:
            return 0
        return 1 if divisor in (old, new) or tasks >= slots else 0
    most = max(min(slots // tasks, new // divisor), 1)
    if divisor in (old, new):
        return most
    shuffled, sliced = SHUFFLE * tasks / slots, READ + COPY / most
    return 0 if shuffled < sliced or old // divisor > MOST_OPEN else most


def noted(
    folder: str, operator: int, store: str, residue: int, part: int = 0, parts: int = 1
) -> list[str]:
    """Return the lines of a finished slice of a group; empty if it is not finished, or without a
    folder.
    """
    name = f"{operator}-{store}-{residue}" + (f".{part}of{parts}" if parts > 1 else "")
    note = Path(folder) / name
    return note.read_text("utf-8").splitlines() if folder and note.is_file() else []


def finished_places(files: FileSystem, folder: str) -> Iterator[str]:
    """Yield the folders, relative to a checkpoint, of all finished partitions of stores."""
    for note in files.names(folder):
        if note.startswith("."):
            continue
        for line in (files.read_text(f"{folder}/{note}") or "").splitlines():
            kind, operator, name, partition, *_ = line.split("\t")
            if kind == "written":
                place = f"state/{operator}/{partition}"
                yield place if name == "default" else f"{place}/{name}"
