"""What is done to a checkpoint, with a Spark session of its own where one is needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.repartition.checkpoints.checkpoint import Checkpoint
from rheostat.repartition.checkpoints.checkpoint_files import is_local, local_path, refused_place
from rheostat.repartition.checkpoints.running_query import require_stopped
from rheostat.repartition.offline_repartition import repartition, repartition_at, undo, undo_at
from rheostat.repartition.protocol.preflight import require_number
from rheostat.repartition.protocol.repartition_log import RepartitionState
from rheostat.repartition.protocol.repartition_runner import ProgressCallback
from rheostat.repartition.repair import (
    Repaired,
    repair,
    repair_at,
    repair_sink,
    repair_sink_at,
)
from rheostat.repartition.rewrite.own_session import own_session
from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter
from rheostat.repartition.sites.remote_site import remote_site
from rheostat.repartition.state_engine import Rewriter


def repartition_here(
    location: str,
    partitions: int,
    progress: ProgressCallback,
    sink: str = "",
    check_stopped: Callable[[Path], None] = require_stopped,
) -> RepartitionState:
    """Do ``repartition`` with a session on this computer; raises what ``repartition`` raises.

    The session starts after all checks, or before them for a remote checkpoint.
    """
    with ExitStack() as session:
        if not is_local(location):
            _require_place(location)
            require_number(partitions)
            spark = session.enter_context(own_session())
            site = remote_site(spark, location)
            return repartition_at(
                site,
                partitions,
                lambda _: SparkRewriter(spark),
                progress=progress,
                sink=sink,
                check_stopped=check_stopped,
            )

        def engine(_: Checkpoint) -> Rewriter:
            return SparkRewriter(session.enter_context(own_session()))

        where = str(local_path(sink).absolute()) if sink else ""
        return repartition(
            location, partitions, engine, progress=progress, sink=where, check_stopped=check_stopped
        )


def undo_here(location: str, progress: ProgressCallback) -> RepartitionState:
    """Do ``undo``, with a session where the checkpoint is elsewhere."""
    if is_local(location):
        return undo(location, progress=progress)
    _require_place(location)
    with own_session() as spark:
        return undo_at(remote_site(spark, location), progress=progress)


def repair_here(location: str) -> Repaired:
    """Do ``repair``, with a session where the checkpoint is elsewhere."""
    if is_local(location):
        return repair(location)
    _require_place(location)
    with own_session() as spark:
        return repair_at(remote_site(spark, location))


def repair_sink_here(location: str, sink: str) -> tuple[int, ...]:
    """Do ``repair_sink``, with a session where the checkpoint is elsewhere."""
    if is_local(location):
        return repair_sink(location, sink)
    _require_place(location)
    with own_session() as spark:
        return repair_sink_at(remote_site(spark, location), sink)


def _require_place(location: str) -> None:
    refused = refused_place(location)
    if refused:
        raise BadInput(refused)
