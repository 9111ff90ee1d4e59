"""Examines a checkpoint and plans a repartition before anything is written."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from math import gcd
from typing import Any

from rheostat.repartition.checkpoint import (
    Checkpoint,
    local_folder,
    missing_file,
    read_checkpoint,
    refused_place,
)
from rheostat.repartition.groups import slices
from rheostat.repartition.inspection import Counts, Inspection, inspect, refusal, unknown_format
from rheostat.repartition.preflight import last_sign, unended
from rheostat.repartition.repartition_log import RepartitionLog, lease_path
from rheostat.storage.file_system import FileSystem, is_remote
from rheostat.storage.lease import lease_owner
from rheostat.storage.local_files import LocalFileSystem

START_S = 8.0
"""Seconds that a Spark session on this computer needs before it can run a job."""

BYTES_PER_SLOT_S = 25e6
"""Bytes of keys and values that a slot reads, places, writes and verifies per second. Measured: 86
MB/s of processor time from RocksDB snapshots with rows of 190 bytes, and a third of that from a
changelog, so this is a conservative estimate."""

SHUFFLE_FACTOR = 2.5
"""Factor on the time of a row that goes through a shuffle, which writes it once more. Not
measured."""

PARTITION_S = 0.2
"""Seconds to open, commit and close a new partition of a store on a local disk; measured with
Spark's own runner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepartitionPlan:
    """The effects of a repartition; ``refusals`` is empty if it is possible.

    ``tasks`` run ``slots`` at a time; ``disk_bytes`` is the space that the new version may need in
    addition to the old ones, ``duration_s`` an estimate; both are None if the state was not
    measured. ``coalesce`` is an alternative without a repartition; None if there is none.
    """

    location: str
    partitions_before: int
    partitions: int
    refusals: tuple[str, ...]
    stores: int
    rows: int | None
    disk_bytes: int | None
    disk_free_bytes: int | None
    tasks: int
    shuffle: bool
    slots: int
    duration_s: float | None
    coalesce: str | None


def plan(
    inspection: Inspection, partitions: int, slots: int, disk_free_bytes: int | None
) -> RepartitionPlan:
    """Return the effects of a change to ``partitions`` partitions."""
    stores, old = len(inspection.stores), inspection.partitions
    parts = slices(
        old, max(partitions, 1), stores, slots, in_memory="RocksDB" not in inspection.provider
    )
    shuffle = not parts
    counted = [store.bytes for store in inspection.stores if store.bytes is not None]
    size = sum(counted) if counted else None
    refusals = _refusals(inspection, partitions, disk_free_bytes, size)
    return RepartitionPlan(
        location=inspection.location,
        partitions_before=old,
        partitions=partitions,
        refusals=tuple(refusals),
        stores=stores,
        rows=sum(store.rows or 0 for store in inspection.stores) if counted else None,
        disk_bytes=size,
        disk_free_bytes=disk_free_bytes,
        tasks=stores * (parts * gcd(old, max(partitions, 1)) or old + max(partitions, 1)),
        shuffle=shuffle,
        slots=slots,
        duration_s=None if size is None else _duration_s(size, stores, partitions, slots, shuffle),
        coalesce=_coalesce(old, partitions),
    )


def _duration_s(size: int, stores: int, partitions: int, slots: int, shuffle: bool) -> float:
    rows_s = size / BYTES_PER_SLOT_S * (SHUFFLE_FACTOR if shuffle else 1)
    return START_S + (rows_s + stores * partitions * PARTITION_S) / slots


def _coalesce(old: int, partitions: int) -> str | None:
    """Return the alternative for fewer tasks: one task can process several partitions."""
    if not 0 < partitions < old:
        return None
    return (
        f"{partitions} tasks instead of {old} need no repartition: .coalesce({partitions}) after"
        " the stateful operator, from the next start on, moves no byte of state; the state keeps"
        f" {old} partitions, and each costs its files in every batch"
    )


def _refusals(
    inspection: Inspection, partitions: int, disk_free_bytes: int | None, size: int | None
) -> Iterator[str]:
    if partitions < 1:
        yield f"--partitions must be at least 1, but it is {partitions}"
    refused = refused_place(inspection.location)
    if refused:
        yield refused
    if partitions == inspection.partitions:
        yield f"--partitions {partitions} is the current number: choose another"
    yield from sorted({store.refusal for store in inspection.stores if store.refusal})
    if inspection.missing is not None:
        yield f"{inspection.missing} is missing: restore it from a backup"
    if inspection.unended is not None:
        yield inspection.unended
    elif inspection.unfinished_partitions is not None:
        yield (
            f"a repartition to {inspection.unfinished_partitions} partitions is unfinished:"
            " rheostat state repair undoes it"
        )
    elif inspection.uncommitted:
        yield (
            f"batch {inspection.uncommitted[-1]} is planned but not committed: run the query"
            " once to completion with trigger(availableNow=True)"
        )
    if inspection.in_use:
        yield (
            f"a query may be using it: its logs were written {inspection.quiet_s:.0f} s ago; stop"
            " it"
        )
    if size is not None and disk_free_bytes is not None and disk_free_bytes < size:
        yield (
            f"the new state may take {size / 1e6:,.0f} MB, and its disk has"
            f" {disk_free_bytes / 1e6:,.0f} MB free"
        )


def look(location: str, *, rows: bool) -> tuple[Inspection, int | None]:
    """Return what a checkpoint contains, and the free bytes of its disk (None: not on this
    computer); raises BadInput for an unreadable checkpoint.

    It starts a Spark session to count rows, and for a checkpoint that is not on this computer.
    """
    if is_remote(location):
        from rheostat.repartition.spark_rewriter import own_session, reachable_files

        with own_session() as spark:
            remote = reachable_files(spark, location)
            checkpoint = read_checkpoint(location, remote)
            counts = _counts(checkpoint, spark) if rows else {}
            return inspect(checkpoint, remote, counts, unended=_unended(checkpoint, remote)), None
    folder, files = str(local_folder(location)), LocalFileSystem()
    checkpoint = read_checkpoint(folder, files)
    missing = None if unknown_format(checkpoint) else missing_file(checkpoint)
    inspection = inspect(
        checkpoint,
        files,
        _counts(checkpoint) if rows and missing is None else {},
        quiet_s=max(time.time() - last_sign(folder, files)[0], 0.0),
        unended=_at_work(folder, files) or _unended(checkpoint, files),
        missing=missing,
    )
    return inspection, shutil.disk_usage(folder).free


def _at_work(folder: str, files: FileSystem) -> str | None:
    owner = lease_owner(files, lease_path(folder), time.time())
    if owner is None:
        return None
    return f"it is being repartitioned now (process {owner.pid} on {owner.host})"


def _unended(checkpoint: Checkpoint, files: FileSystem) -> str | None:
    return unended(RepartitionLog(checkpoint.location, files).read())


def _counts(checkpoint: Checkpoint, spark: Any = None) -> Counts:
    """Return the rows and bytes of each partition; none if its state cannot be read."""
    from rheostat.repartition.spark_rewriter import SparkRewriter, own_session

    if unknown_format(checkpoint) or any(map(refusal, checkpoint.operators)):
        return {}
    with nullcontext(spark) if spark else own_session() as session:
        parts = SparkRewriter(session).measure_partitions(checkpoint.state)
    return {(part.operator, part.name, part.partition): (part.rows, part.bytes) for part in parts}
