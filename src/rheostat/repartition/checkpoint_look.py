"""Looks at a checkpoint: its files, and, if asked, its rows with Spark."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rheostat.errors import BadInput
from rheostat.repartition.checkpoints.checkpoint import Checkpoint, read_checkpoint
from rheostat.repartition.checkpoints.checkpoint_files import (
    CheckpointFiles,
    LocalFiles,
    is_local,
    local_path,
)
from rheostat.repartition.checkpoints.formats import unknown_format
from rheostat.repartition.checkpoints.inspection import Counts, Inspection, inspect
from rheostat.repartition.checkpoints.operators import refusal

if TYPE_CHECKING:
    from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was found; ``slots`` are those of this computer, ``disk_free_bytes`` are None where the
    checkpoint is elsewhere.
    """

    found: Inspection
    slots: int
    disk_free_bytes: int | None


def look(location: str, *, rows: bool) -> Look:
    """Return what is in a checkpoint; raises BadInput if it cannot be read as one.

    A Spark session is started for rows, and for a checkpoint that is not on this computer.
    """
    if is_local(location):
        folder = local_path(location.rstrip("/") or "/")
        if not folder.is_dir():
            raise BadInput(f"{location} is no folder: name the checkpointLocation of a query")
        checkpoint = read_checkpoint(str(folder.absolute()), LocalFiles())
        counts = _counted(checkpoint) if rows else {}
        return _look(checkpoint, LocalFiles(), counts, folder)
    return _look_elsewhere(location, rows)


def _look(
    checkpoint: Checkpoint, files: CheckpointFiles, counts: Counts, folder: Path | None
) -> Look:
    quiet_s = None if folder is None else max(time.time() - _last_written_s(folder), 0.0)
    return Look(
        found=inspect(checkpoint, files, counts, quiet_s),
        slots=os.cpu_count() or 1,
        disk_free_bytes=None if folder is None else shutil.disk_usage(folder).free,
    )


def _last_written_s(folder: Path) -> float:
    entries = [each for log in ("offsets", "commits") for each in (folder / log).glob("[0-9]*")]
    return max(each.stat().st_mtime for each in entries)


def _look_elsewhere(location: str, rows: bool) -> Look:
    from rheostat.repartition.rewrite.own_session import own_session
    from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter

    with own_session() as spark:
        rewriter = SparkRewriter(spark)
        rewriter.files.require(location)
        checkpoint = read_checkpoint(location, rewriter.files)
        counts = _counts(checkpoint, rewriter) if rows else {}
        return _look(checkpoint, rewriter.files, counts, None)


def _counted(checkpoint: Checkpoint) -> Counts:
    from rheostat.repartition.rewrite.own_session import own_session
    from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter

    if unknown_format(checkpoint) or any(map(refusal, checkpoint.operators)):
        return {}
    with own_session() as spark:
        return _counts(checkpoint, SparkRewriter(spark))


def _counts(checkpoint: Checkpoint, rewriter: SparkRewriter) -> Counts:
    return {
        (each.operator, each.name, each.partition): (each.rows, each.bytes)
        for each in rewriter.measure_partitions(checkpoint.state)
    }
