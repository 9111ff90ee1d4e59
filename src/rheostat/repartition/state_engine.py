"""The seam between the protocol of a repartition and what rewrites the state: values and one port.

A *version* of state is what Spark writes when it commits a batch: version = batch + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

StateIds = Mapping[str, tuple[tuple[str, ...], ...]]
"""Operator -> partition -> store -> the unique id of its files, as the commit log of checkpoint
format 2 keeps it (``stateUniqueIds``)."""


@dataclass(frozen=True, slots=True, order=True)
class StoreId:
    """A state store of an operator, over all its partitions; ``default`` but for joins."""

    operator: int
    name: str


@dataclass(frozen=True, slots=True)
class StoreCount:
    """What is in a store: rows, a checksum that does not depend on their order or partition (64
    bits, signed), the bytes of keys and values, and rows whose partition is not the one that their
    key's hash says.
    """

    rows: int
    checksum: int
    bytes: int
    misplaced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVersion:
    """The state as a batch has left it.

    ``settings`` is the conf of the batch in the offset log, ``ids`` is empty in checkpoint format
    1.
    """

    checkpoint: str
    batch: int
    partitions: int
    settings: Mapping[str, str]
    ids: StateIds


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """What is wanted: the state of ``source`` as the state that ``batch`` leaves, in other
    partitions.

    ``notes`` is a folder in which finished work is noted, so that another call need not repeat it;
    empty for none.
    """

    source: StateVersion
    batch: int
    partitions: int
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What was read and what was written, and the ids for the commit log (empty in checkpoint
    format 1).
    """

    before: Mapping[StoreId, StoreCount]
    after: Mapping[StoreId, StoreCount]
    ids: StateIds


Progress = Callable[[int, int], None]
"""Called with the number of completed tasks and the total."""


class Rewriter(Protocol):
    """Rewrites state; touches only ``state/`` of a checkpoint, never ``offsets/`` or ``commits/``.

    Every method may be interrupted at any moment and called again.
    """

    def measure(self, state: StateVersion) -> Mapping[StoreId, StoreCount]:
        """Count every store as Spark would load it, and write nothing; raises RheostatError."""
        ...

    def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
        """Write every store of every operator for the wanted partitions; raises BadInput before
        anything is written if an operator cannot be rewritten, RheostatError if the work fails.
        """
        ...


def differences(
    before: Mapping[StoreId, StoreCount], after: Mapping[StoreId, StoreCount]
) -> tuple[str, ...]:
    """Return how the new state differs, one sentence per difference; empty if it does not."""
    return tuple(
        sentence
        for store in sorted({*before, *after})
        for sentence in _store_differences(store, before.get(store), after.get(store))
    )


def _store_differences(
    store: StoreId, before: StoreCount | None, after: StoreCount | None
) -> Iterator[str]:
    name = f"store {store.name} of operator {store.operator}"
    if before is None or after is None:
        yield f"{name} exists only {'after' if before is None else 'before'} the repartition"
        return
    if before.rows != after.rows:
        yield f"{name} held {before.rows} rows and holds {after.rows}"
    elif before.checksum != after.checksum:
        yield f"{name} holds {after.rows} rows, as before, but with other contents"
    if after.misplaced:
        yield f"{name} has {after.misplaced} rows in partitions that their keys' hashes do not name"
