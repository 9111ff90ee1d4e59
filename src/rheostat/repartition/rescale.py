"""The three things that can be done to a checkpoint: repartition it, take that back, repair it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition.checkpoint import Checkpoint
from rheostat.repartition.course import Course, Told, quiet
from rheostat.repartition.disk import Disk
from rheostat.repartition.lease import leased
from rheostat.repartition.own_journal import OwnJournal, Plan, Story
from rheostat.repartition.preflight import (
    UNFINISHED,
    own_checkpoint,
    plan_of,
    read_own,
    require_drained,
    require_fit,
    require_no_story,
    require_number,
)
from rheostat.repartition.running_query import require_stopped
from rheostat.repartition.state_engine import Rewriter, StateVersion

Clock = Callable[[], float]


def rescale(
    location: str,
    partitions: int,
    engine: Callable[[Checkpoint], Rewriter],
    *,
    told: Told = quiet,
    disk: Disk | None = None,
    clock: Clock = time.time,
    check_stopped: Callable[[Path], None] = require_stopped,
) -> Story:
    """Give a checkpoint another number of state partitions, or end a repartition that was begun.

    ``engine`` makes what rewrites state, after everything that can be refused was. Raises BadInput
    with nothing written; RheostatError when the work failed and the checkpoint is as before.
    """
    disk = disk or Disk()
    folder = own_checkpoint(location)
    journal = OwnJournal(folder, disk)
    story = journal.read()
    require_no_story(story, partitions)
    taken_up = story is not None and story.phase in UNFINISHED
    require_number(partitions)
    checkpoint, _ = read_own(folder)
    check_stopped(folder)
    if not taken_up:
        checkpoint, _ = read_own(folder)
        require_fit(checkpoint, partitions)
    rewriter = engine(checkpoint)
    with leased(folder, disk):
        if not taken_up or story is None:
            checkpoint, _ = read_own(folder)
            require_drained(checkpoint)
            story = journal.begin(plan_of(checkpoint, partitions), clock())
        course = Course(folder, story, disk=disk, clock=clock, told=told)
        return _ended(course.forth(rewriter, _source(checkpoint, story.plan)), folder)


def undo(
    location: str,
    *,
    told: Told = quiet,
    disk: Disk | None = None,
    clock: Clock = time.time,
    check_stopped: Callable[[Path], None] = require_stopped,
) -> Story:
    """Take the newest repartition of a checkpoint back, ended or not; raises BadInput where there
    is none and where the query has gone on with the new number.
    """
    disk = disk or Disk()
    folder = own_checkpoint(location)
    story = OwnJournal(folder, disk).read()
    if story is None or story.phase == "ended":
        raise BadInput(f"{location} has no repartition that could be taken back")
    course = Course(folder, story, disk=disk, clock=clock, told=told)
    _require_way_back(course, folder)
    check_stopped(folder)
    with leased(folder, disk):
        _require_way_back(course, folder)
        return course.back("taken back by the user")


def _require_way_back(course: Course, folder: Path) -> None:
    plan = course.story.plan
    if course.look(back=True).gone_on:
        raise BadInput(
            f"{folder} cannot be taken back: its query has planned a batch with"
            f" {plan.partitions} partitions since; rheostat state rescale --partitions"
            f" {plan.partitions_before} goes back without a loss"
        )
    if not (folder / "offsets" / str(plan.batch)).is_file():
        raise BadInput(f"{folder} cannot be taken back: batch {plan.batch} is no longer kept")


def _source(checkpoint: Checkpoint, plan: Plan) -> StateVersion:
    """Return the state as the last batch before the repartition has left it."""
    state = checkpoint.state
    if state.batch == plan.batch:
        return state
    return replace(state, batch=plan.batch, partitions=plan.partitions_before)


def _ended(story: Story, folder: Path) -> Story:
    """Return a story that ended well; raises RheostatError for one that went back by itself."""
    if story.phase == "done":
        return story
    if story.phase == "ended":
        raise RheostatError(
            f"{folder} was not repartitioned and is as it was before: {story.reason}"
        )
    raise RheostatError(
        f"the logs of {folder} were changed by hand meanwhile (phase {story.phase}): rheostat state"
        " inspect shows them"
    )
