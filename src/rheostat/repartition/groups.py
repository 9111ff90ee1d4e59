"""Which old partitions go into which new ones, and so which tasks can run without a shuffle.

A row's partition is its hash modulo their number. With g the greatest common divisor of the old and
the new number, what is in the old partitions of a residue modulo g belongs into the new ones of the
same residue: from 8 to 16, partition 3 goes into 3 and 11 and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd


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


SHUFFLE_COST = 2.5
"""Processor time of a row that goes through a shuffle, over that of one that does not: it is
written, sorted, read and merged once more (``benchmarks/repartition.py``, 8 to 7)."""

MOST_OPEN = 64
"""Each open partition of a store in RocksDB takes a few MB outside the JVM's heap."""


def needs_shuffle(old: int, new: int, stores: int, slots: int) -> bool:
    """Tell whether rows should go through a shuffle.

    One task a group reads every row once and writes it once. That is always right where a group has
    one old or one new partition; else only if the slots that have no group would not do the work of
    a shuffle in less time, and if a task need not open more than ``MOST_OPEN`` old partitions.
    """
    divisor = gcd(old, new)
    if divisor in (old, new):
        return False
    return divisor * stores * SHUFFLE_COST < slots or old // divisor > MOST_OPEN
