"""The three things that can be done to a checkpoint: repartition it, take that back, repair it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition.checkpoints.checkpoint import Checkpoint
from rheostat.repartition.checkpoints.running_query import require_stopped
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.lease import leased
from rheostat.repartition.protocol.preflight import (
    UNFINISHED,
    plan_of,
    require_drained,
    require_no_unfinished,
    require_number,
)
from rheostat.repartition.protocol.repartition_facts import OTHERS
from rheostat.repartition.protocol.repartition_log import Plan, RepartitionLog, RepartitionState
from rheostat.repartition.protocol.repartition_runner import (
    ProgressCallback,
    RepartitionRunner,
    quiet,
)
from rheostat.repartition.sites.site import LocalSite, Site
from rheostat.repartition.state_engine import Rewriter, StateVersion

Clock = Callable[[], float]


def repartition(
    location: str,
    partitions: int,
    engine: Callable[[Checkpoint], Rewriter],
    *,
    progress: ProgressCallback = quiet,
    sink: str = "",
    disk: Disk | None = None,
    clock: Clock = time.time,
    check_stopped: Callable[[Path], None] = require_stopped,
) -> RepartitionState:
    """Give a checkpoint another number of state partitions, or end a repartition that was begun.

    ``sink`` is the folder that the query writes files to, if its sink is one of files. ``engine``
    makes what rewrites state, after everything that can be refused was. Raises BadInput with
    nothing written; RheostatError when the work failed and the checkpoint is as before.
    """
    site = LocalSite(location, disk or Disk())
    return repartition_at(
        site,
        partitions,
        engine,
        progress=progress,
        sink=sink,
        clock=clock,
        check_stopped=check_stopped,
    )


def repartition_at(
    site: Site,
    partitions: int,
    engine: Callable[[Checkpoint], Rewriter],
    *,
    progress: ProgressCallback = quiet,
    sink: str = "",
    clock: Clock = time.time,
    check_stopped: Callable[[Path], None] = require_stopped,
) -> RepartitionState:
    """Do ``repartition`` wherever the checkpoint is."""
    folder = site.folder
    journal = RepartitionLog(folder, site.disk)
    state = journal.read()
    require_no_unfinished(state, partitions, sink)
    taken_up = state is not None and state.phase in UNFINISHED
    require_number(partitions)
    checkpoint = site.read()
    check_stopped(folder)
    if not taken_up:
        checkpoint = site.read()
        site.require_fit(checkpoint, partitions)
        if sink:
            site.sink_log(sink).require_newest(checkpoint.committed.batch)
    rewriter = engine(checkpoint)
    with leased(folder, site.disk):
        if not taken_up or state is None:
            checkpoint = site.read()
            require_drained(checkpoint)
            state = journal.begin(plan_of(checkpoint, partitions, sink), clock())
        runner = site.runner(state, clock, progress)
        return _ended(runner.run(rewriter, _source(checkpoint, state.plan)), folder)


def undo(
    location: str,
    *,
    progress: ProgressCallback = quiet,
    disk: Disk | None = None,
    clock: Clock = time.time,
    check_stopped: Callable[[Path], None] = require_stopped,
) -> RepartitionState:
    """Take the newest repartition of a checkpoint back, ended or not; raises BadInput where there
    is none and where the query has gone on with the new number.
    """
    site = LocalSite(location, disk or Disk())
    return undo_at(site, progress=progress, clock=clock, check_stopped=check_stopped)


def undo_at(
    site: Site,
    *,
    progress: ProgressCallback = quiet,
    clock: Clock = time.time,
    check_stopped: Callable[[Path], None] = require_stopped,
) -> RepartitionState:
    """Do ``undo`` wherever the checkpoint is."""
    folder = site.folder
    state = RepartitionLog(folder, site.disk).read()
    if state is None or state.phase == "ended":
        raise BadInput(f"{folder} has no repartition that could be taken back")
    runner = site.runner(state, clock, progress)
    _require_way_back(runner, folder)
    check_stopped(folder)
    with leased(folder, site.disk):
        _require_way_back(runner, folder)
        return runner.rollback("taken back by the user")


def _require_way_back(runner: RepartitionRunner, folder: Path) -> None:
    plan, facts = runner.state.plan, runner.look(back=True)
    if facts.gone_on:
        raise BadInput(
            f"{folder} cannot be taken back: its query has planned a batch with"
            f" {plan.partitions} partitions since; rheostat state repartition --partitions"
            f" {plan.partitions_before} goes back without a loss"
        )
    if facts.lock != OTHERS and not (folder / "offsets" / str(plan.batch)).is_file():
        raise BadInput(f"{folder} cannot be taken back: batch {plan.batch} is no longer kept")


def _source(checkpoint: Checkpoint, plan: Plan) -> StateVersion:
    """Return the state as the last batch before the repartition has left it."""
    state = checkpoint.state
    if state.batch == plan.batch:
        return state
    return replace(state, batch=plan.batch, partitions=plan.partitions_before)


def _ended(state: RepartitionState, folder: Path) -> RepartitionState:
    """Return the state of a repartition that succeeded; raises RheostatError if it failed."""
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
