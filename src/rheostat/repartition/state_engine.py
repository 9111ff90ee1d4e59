"""The port between the protocol of a repartition and the rewriter of the state, and its values.

A *version* of state is what Spark writes when it commits a batch: version = batch + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

StateIds = Mapping[str, tuple[tuple[str, ...], ...]]
"""Operator -> partition -> store -> the unique ID of its files, as in the commit log of checkpoint
format 2 (``stateUniqueIds``)."""


@dataclass(frozen=True, slots=True, order=True)
class StoreId:
    """A state store of an operator, over all its partitions; named ``default`` except in joins."""

    operator: int
    name: str


@dataclass(frozen=True, slots=True)
class StoreCount:
    """The contents of a store: rows, a checksum that does not depend on their order or partition
    (64 bits, signed), the bytes of keys and values, and the rows that are not in the partition of
    their key's hash.
    """

    rows: int
    checksum: int
    bytes: int
    misplaced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVersion:
    """The state after a batch.

    ``settings`` is the conf of the batch in the offset log; ``ids`` is empty in checkpoint format
    1.
    """

    checkpoint: str
    batch: int
    partitions: int
    settings: Mapping[str, str]
    ids: StateIds


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """The task of a rewrite: the state of ``source`` as the state after ``batch``, with another
    number of partitions.

    ``notes`` is a folder that records finished work, so that another call need not repeat it; empty
    for none.
    """

    source: StateVersion
    batch: int
    partitions: int
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """The counts of the state that was read and written, and the IDs for the commit log (empty in
    checkpoint format 1).
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
        """Count every store as Spark would load it, without writing; raises RheostatError."""

    def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
        """Write every store of every operator with the wanted number of partitions; raises BadInput
        before anything is written if an operator cannot be rewritten, RheostatError on failure.
        """


def differences(
    before: Mapping[StoreId, StoreCount], after: Mapping[StoreId, StoreCount]
) -> tuple[str, ...]:
    """Return the differences of the new state, one sentence each; empty if there are none."""
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
