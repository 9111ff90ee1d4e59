"""Repartitions a checkpoint, or undoes that, with its own Spark session if it needs one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from rheostat.errors import BadInput, RheostatError
from rheostat.protocols.repartition import OTHERS
from rheostat.repartition.checkpoint import (
    Checkpoint,
    checkpoint_folder,
    read_checkpoint,
    refused_place,
)
from rheostat.repartition.preflight import (
    UNFINISHED,
    plan_of,
    require_drained,
    require_fit,
    require_no_unfinished,
    require_number,
    require_stopped,
)
from rheostat.repartition.repartition_log import RepartitionLog, RepartitionState, leased
from rheostat.repartition.repartition_runner import ProgressCallback, RepartitionRunner, quiet
from rheostat.repartition.spark_rewriter import SparkRewriter, own_session, reachable_files
from rheostat.repartition.staging import SinkLog
from rheostat.repartition.state_engine import Rewriter
from rheostat.storage.file_system import FileSystem, is_remote, local_path
from rheostat.storage.local_files import LocalFileSystem

CheckStopped = Callable[[str, FileSystem], None]
"""Raises BadInput if a query uses a checkpoint."""


def repartition(
    location: str,
    partitions: int,
    engine: Callable[[Checkpoint], Rewriter],
    *,
    files: FileSystem | None = None,
    progress: ProgressCallback = quiet,
    sink: str = "",
    check_stopped: CheckStopped = require_stopped,
) -> RepartitionState:
    """Give a checkpoint another number of state partitions, or complete an unfinished repartition.

    ``files`` are those of this computer by default. ``sink`` is the output folder of the query's
    file sink, if it has one. ``engine`` creates the rewriter of the state, after all checks. Raises
    BadInput before anything is written; RheostatError if the work failed and the checkpoint is
    unchanged.
    """
    folder, files = checkpoint_folder(location, files)
    journal = RepartitionLog(folder, files)
    state = journal.read()
    require_no_unfinished(state, partitions, sink)
    taken_up = state is not None and state.phase in UNFINISHED
    require_number(partitions)
    checkpoint = read_checkpoint(folder, files)
    check_stopped(folder, files)
    if not taken_up:
        checkpoint = read_checkpoint(folder, files)
        require_fit(checkpoint, partitions, files)
        if sink:
            SinkLog(files, sink).require_newest(checkpoint.committed.batch)
    rewriter = engine(checkpoint)
    with leased(folder, files):
        if not taken_up or state is None:
            checkpoint = read_checkpoint(folder, files)
            require_drained(checkpoint)
            state = journal.begin(plan_of(checkpoint, partitions, sink), time.time())
        runner = RepartitionRunner(folder, state, files=files, on_progress=progress)
        # A resumed repartition may have committed its own batch already.
        before = replace(
            checkpoint.state, batch=state.plan.batch, partitions=state.plan.partitions_before
        )
        return _ended(runner.run(rewriter, before), folder)


def undo(
    location: str,
    *,
    files: FileSystem | None = None,
    progress: ProgressCallback = quiet,
    check_stopped: CheckStopped = require_stopped,
) -> RepartitionState:
    """Undo the newest repartition of a checkpoint, completed or not; raises BadInput if there is
    none, or if the query has planned a batch with the new number.
    """
    folder, files = checkpoint_folder(location, files)
    state = RepartitionLog(folder, files).read()
    if state is None or state.phase == "ended":
        raise BadInput(f"{folder} has no repartition that can be undone")
    runner = RepartitionRunner(folder, state, files=files, on_progress=progress)
    _require_way_back(runner, folder, files)
    check_stopped(folder, files)
    with leased(folder, files):
        _require_way_back(runner, folder, files)
        return runner.rollback("undone by the user")


def _require_way_back(runner: RepartitionRunner, folder: str, files: FileSystem) -> None:
    plan, facts = runner.state.plan, runner.look(back=True)
    if facts.gone_on:
        raise BadInput(
            f"{folder} cannot be undone: its query has planned a batch with"
            f" {plan.partitions} partitions since; rheostat state repartition --partitions"
            f" {plan.partitions_before} goes back without a loss"
        )
    if facts.lock != OTHERS and files.status(f"{folder}/offsets/{plan.batch}") is None:
        raise BadInput(f"{folder} cannot be undone: batch {plan.batch} is no longer kept")


def _ended(state: RepartitionState, folder: str) -> RepartitionState:
    """Return the state of a successful repartition; raises RheostatError if it failed."""
    if state.phase == "done":
        return state
    if state.phase == "ended":
        raise RheostatError(
            f"{folder} was not repartitioned and is as it was before: {state.reason}"
        )
    raise RheostatError(
        f"the logs of {folder} were changed by hand meanwhile (phase {state.phase}): rheostat state"
        " inspect shows them"
    )


def repartition_here(
    location: str,
    partitions: int,
    progress: ProgressCallback,
    sink: str = "",
    check_stopped: CheckStopped = require_stopped,
) -> RepartitionState:
    """Run ``repartition`` with a session on this computer; raises what ``repartition`` raises.

    The session starts after all checks, or before them for a remote checkpoint.
    """
    with ExitStack() as stack:
        if is_remote(location):
            require_number(partitions)
        files, spark = stack.enter_context(opened(location))

        def engine(_: Checkpoint) -> Rewriter:
            return SparkRewriter(spark or stack.enter_context(own_session()))

        return repartition(
            location,
            partitions,
            engine,
            files=files,
            progress=progress,
            sink=full_name(sink),
            check_stopped=check_stopped,
        )


@contextmanager
def opened(location: str) -> Iterator[tuple[FileSystem, Any]]:
    """Yield the file system of a checkpoint, and a session if the checkpoint is remote."""
    if not is_remote(location):
        yield LocalFileSystem(), None
        return
    refused = refused_place(location)
    if refused:
        raise BadInput(refused)
    with own_session() as spark:
        yield reachable_files(spark, location), spark


def full_name(sink: str) -> str:
    """Return the full name of a sink's folder, which may be relative on this computer."""
    return str(local_path(sink).absolute()) if sink and not is_remote(sink) else sink
