"""Whether a repartition kept every row: counts and checksums of every store, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rheostat.repartition.state_engine import StoreCount, StoreId

Counts = Mapping[StoreId, StoreCount]


def differences(before: Counts, after: Counts) -> tuple[str, ...]:
    """Return what is wrong with the new state, a sentence per store; nothing if all is well."""
    return tuple(
        sentence
        for store in sorted({*before, *after})
        for sentence in _of(store, before.get(store), after.get(store))
    )


def _of(store: StoreId, before: StoreCount | None, after: StoreCount | None) -> Iterator[str]:
    name = f"store {store.name} of operator {store.operator}"
    if before is None or after is None:
        yield f"{name} is only {'after' if before is None else 'before'} the repartition"
        return
    if before.rows != after.rows:
        yield f"{name} held {before.rows} rows and holds {after.rows}"
    elif before.checksum != after.checksum:
        yield f"{name} holds {after.rows} rows, as before, but with other contents"
    if after.misplaced:
        yield f"{name} has {after.misplaced} rows in partitions that their keys' hashes do not name"
