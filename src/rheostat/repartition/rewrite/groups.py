"""Which old partitions go into which new ones, and so which tasks can run without a shuffle.

A row's partition is its hash modulo their number. With g the greatest common divisor of the old and
the new number, what is in the old partitions of a residue modulo g belongs into the new ones of the
same residue: from 8 to 16, partition 3 goes into 3 and 11 and nowhere else.

A finished group leaves a note, in one step, for a rewrite that goes on after an interruption: a
file per group and store with the lines that its task reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from pathlib import Path

from rheostat.storage.file_system import FileSystem


@dataclass(frozen=True, slots=True)
class Group:
    """Partitions that exchange rows only among themselves."""

    old: int
    new: int
    residue: int
    divisor: int

    @property
    def sources(self) -> range:
        """Its old partitions."""
        return range(self.residue, self.old, self.divisor)

    @property
    def targets(self) -> range:
        """Its new partitions."""
        return range(self.residue, self.new, self.divisor)


def groups(old: int, new: int) -> Iterator[Group]:
    """Yield the groups of a change from ``old`` to ``new`` partitions."""
    divisor = gcd(old, new)
    for residue in range(divisor):
        yield Group(old, new, residue, divisor)


READ, COPY, SHUFFLE = 0.35, 0.85, 3.0
"""Processor time of a row in microseconds: to read its key and say where it belongs, to copy it,
and to send it through a shuffle instead. Estimates: the first two from a profile of 8 to 16 (their
sum is measured), the third not measured."""

MOST_OPEN = 64
"""Each open partition of a store in RocksDB takes a few MB outside the JVM's heap."""

MOST_LOADED = 8
"""A partition of a provider in memory is in the heap as a whole while it is open."""


def slices(old: int, new: int, stores: int, slots: int, *, in_memory: bool) -> int:
    """Return into how many tasks a group is divided; 0 where rows should go through a shuffle.

    One task a group reads every row once and writes it once. Slots that would have no group may
    take part of a group's new partitions: each such task reads all keys of the group, and copies
    what is its own. ``in_memory`` is a provider that loads a whole partition into the heap: a task
    of it opens no more of them than it must, and no two tasks open the same.
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
