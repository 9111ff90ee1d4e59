"""Changes a checkpoint, with a Spark session of its own where one is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from rheostat.errors import BadInput
from rheostat.repartition.checkpoints.checkpoint import Checkpoint, refused_place
from rheostat.repartition.offline_repartition import CheckStopped, repartition, undo
from rheostat.repartition.protocol.preflight import require_number, require_stopped
from rheostat.repartition.protocol.repartition_log import RepartitionState
from rheostat.repartition.protocol.repartition_runner import ProgressCallback
from rheostat.repartition.repair import Repaired, repair, repair_sink
from rheostat.repartition.rewrite.own_session import own_session
from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter, reachable_files
from rheostat.repartition.state_engine import Rewriter
from rheostat.storage.file_system import FileSystem, is_remote, local_path
from rheostat.storage.local_files import LocalFileSystem


def repartition_here(
    location: str,
    partitions: int,
    progress: ProgressCallback,
    sink: str = "",
    check_stopped: CheckStopped = require_stopped,
) -> RepartitionState:
    """Do ``repartition`` with a session on this computer; raises what ``repartition`` raises.

    The session starts after all checks, or before them for a remote checkpoint.
    """
    with ExitStack() as stack:
        if is_remote(location):
            require_number(partitions)
        files, spark = stack.enter_context(_opened(location))

        def engine(_: Checkpoint) -> Rewriter:
            return SparkRewriter(spark or stack.enter_context(own_session()))

        return repartition(
            location,
            partitions,
            engine,
            files=files,
            progress=progress,
            sink=_full_name(sink),
            check_stopped=check_stopped,
        )


def undo_here(location: str, progress: ProgressCallback) -> RepartitionState:
    """Do ``undo``, with a session for a remote checkpoint."""
    with _opened(location) as (files, _):
        return undo(location, files=files, progress=progress)


def repair_here(location: str) -> Repaired:
    """Do ``repair``, with a session for a remote checkpoint."""
    with _opened(location) as (files, _):
        return repair(location, files)


def repair_sink_here(location: str, sink: str) -> tuple[int, ...]:
    """Do ``repair_sink``, with a session for a remote checkpoint."""
    with _opened(location) as (files, _):
        return repair_sink(location, _full_name(sink), files)


@contextmanager
def _opened(location: str) -> Iterator[tuple[FileSystem, Any]]:
    """Hand out the file system of a checkpoint, and a session if it takes one to reach it."""
    if not is_remote(location):
        yield LocalFileSystem(), None
        return
    refused = refused_place(location)
    if refused:
        raise BadInput(refused)
    with own_session() as spark:
        yield reachable_files(spark, location), spark


def _full_name(sink: str) -> str:
    return str(local_path(sink).absolute()) if sink and not is_remote(sink) else sink
