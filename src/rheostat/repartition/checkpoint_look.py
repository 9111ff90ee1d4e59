"""Inspects a checkpoint: its files, and optionally its rows with Spark."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rheostat.repartition.checkpoints.checkpoint import Checkpoint, local_folder, read_checkpoint
from rheostat.repartition.checkpoints.inspection import (
    Counts,
    Inspection,
    inspect,
    refusal,
    unknown_format,
)
from rheostat.repartition.checkpoints.state_files import missing_file
from rheostat.repartition.protocol.preflight import last_sign, unended
from rheostat.repartition.protocol.repartition_log import RepartitionLog, lease_path
from rheostat.storage.file_system import FileSystem, is_remote
from rheostat.storage.lease import lease_owner
from rheostat.storage.local_files import LocalFileSystem

if TYPE_CHECKING:
    from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """An inspected checkpoint; ``slots`` are those of this computer, ``disk_free_bytes`` is None
    for a remote checkpoint.
    """

    inspection: Inspection
    slots: int
    disk_free_bytes: int | None


def look(location: str, *, rows: bool) -> Look:
    """Return what a checkpoint contains; raises BadInput for an unreadable one.

    It starts a Spark session to count rows, and for a checkpoint that is not on this computer.
    """
    if is_remote(location):
        return _look_elsewhere(location, rows)
    folder, files = str(local_folder(location)), LocalFileSystem()
    checkpoint = read_checkpoint(folder, files)
    missing = None if unknown_format(checkpoint) else missing_file(checkpoint)
    inspection = inspect(
        checkpoint,
        files,
        _counted(checkpoint) if rows and missing is None else {},
        quiet_s=max(time.time() - last_sign(folder, files)[0], 0.0),
        unended=_at_work(folder, files) or _unended(checkpoint, files),
        missing=missing,
    )
    return Look(
        inspection=inspection, slots=_slots(), disk_free_bytes=shutil.disk_usage(folder).free
    )


def _slots() -> int:
    return os.cpu_count() or 1


def _at_work(folder: str, files: FileSystem) -> str | None:
    owner = lease_owner(files, lease_path(folder), time.time())
    if owner is None:
        return None
    return f"it is being repartitioned now (process {owner.pid} on {owner.host})"


def _unended(checkpoint: Checkpoint, files: FileSystem) -> str | None:
    return unended(RepartitionLog(checkpoint.location, files).read())


def _look_elsewhere(location: str, rows: bool) -> Look:
    from rheostat.repartition.rewrite.spark_rewriter import (
        SparkRewriter,
        own_session,
        reachable_files,
    )

    with own_session() as spark:
        files = reachable_files(spark, location)
        checkpoint = read_checkpoint(location, files)
        counts = _counts(checkpoint, SparkRewriter(spark)) if rows else {}
        inspection = inspect(checkpoint, files, counts, unended=_unended(checkpoint, files))
        return Look(inspection=inspection, slots=_slots(), disk_free_bytes=None)


def _counted(checkpoint: Checkpoint) -> Counts:
    from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter, own_session

    if unknown_format(checkpoint) or any(map(refusal, checkpoint.operators)):
        return {}
    with own_session() as spark:
        return _counts(checkpoint, SparkRewriter(spark))


def _counts(checkpoint: Checkpoint, rewriter: SparkRewriter) -> Counts:
    return {
        (partition.operator, partition.name, partition.partition): (partition.rows, partition.bytes)
        for partition in rewriter.measure_partitions(checkpoint.state)
    }
