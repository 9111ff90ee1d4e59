"""Checks before anything is written; each refusal names the value and an alternative.

Spark does not lock a checkpoint, so its files indicate whether a query uses it. A query that waits
for its next trigger writes nothing and is not detected. It does no harm: the repartition takes the
number of its next batch in the offset log, and Spark ends a query whose number is taken.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.protocols.repartition import CLOSED, OPEN_OLD
from rheostat.repartition.checkpoint import Checkpoint, missing_file
from rheostat.repartition.inspection import require_repartitionable
from rheostat.repartition.repartition_log import Plan, RepartitionState, offset_entry
from rheostat.storage.file_system import FileSystem, numbered
from rheostat.storage.local_files import LocalFileSystem

MOST_PARTITIONS = 32_768
"""A larger number is rejected as a mistake: this is Flink's largest maximum parallelism."""

QUIET_S = 20.0
"""Seconds after which a log without new entries is not observed: its query counts as stopped."""

WATCH_S = 6.0
"""Seconds for which more recent logs are observed for a new entry."""

UNFINISHED = CLOSED | OPEN_OLD | {"committed"}
"""Phases of a repartition that must end before another can begin."""

RETURNING = frozenset({"withdrawing", "unlocked"})
"""Phases of an unfinished repartition that is being undone."""


def require_number(partitions: int) -> None:
    """Raise BadInput for a number of partitions that no query can have."""
    if not 1 <= partitions <= MOST_PARTITIONS:
        raise BadInput(f"--partitions must be from 1 to {MOST_PARTITIONS}, but it is {partitions}")


def require_fit(checkpoint: Checkpoint, partitions: int, files: FileSystem) -> None:
    """Raise BadInput for a checkpoint or a disk that does not allow a repartition."""
    require_drained(checkpoint)
    if partitions == checkpoint.partitions:
        raise BadInput(
            f"--partitions {partitions} is what {checkpoint.location} has now: choose another"
        )
    require_repartitionable(checkpoint)
    # The state folder contains older versions, too, so the new one needs no more space.
    state_bytes = files.size(f"{checkpoint.location}/state") or 0
    if not isinstance(files, LocalFileSystem):
        here = Path(tempfile.gettempdir())
        _require_room(here, 2 * state_bytes, checkpoint.location, f"the disk of {here}")
        return
    folder = Path(checkpoint.location)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadInput(f"{folder} cannot be written: Permission denied")
    missing = missing_file(checkpoint)
    if missing:
        raise BadInput(f"{missing} is missing: restore it from a backup, then again")
    _require_room(folder, state_bytes, checkpoint.location)


def require_drained(checkpoint: Checkpoint) -> None:
    """Raise BadInput if a batch is planned but not committed."""
    if not checkpoint.uncommitted:
        return
    location, newest = checkpoint.location, checkpoint.planned[-1]
    if checkpoint.unfinished_partitions is not None:
        raise BadInput(
            f"{location} has a repartition to {checkpoint.unfinished_partitions} partitions that"
            " Spark has not completed: rheostat state repair undoes it"
        )
    raise BadInput(
        f"{location} has planned batch {newest.batch} but not committed it: run the query once to"
        " completion with trigger(availableNow=True), or with trigger(once=True) where it runs by"
        " processing time, then again"
    )


def require_no_unfinished(state: RepartitionState | None, partitions: int, sink: str) -> None:
    """Raise BadInput if a different repartition of Rheostat is unfinished: one to other than
    ``partitions`` partitions, or with another sink.
    """
    message = unended(state)
    if state is None or message is None:
        return
    plan = state.plan
    if partitions != plan.partitions or state.phase in RETURNING:
        raise BadInput(message)
    if sink and sink != plan.sink:
        begun = f"with --sink {plan.sink}" if plan.sink else "without --sink"
        raise BadInput(
            f"the repartition to {plan.partitions} partitions was started {begun}, not with {sink}:"
            " undo it with rheostat state undo, then repeat"
        )


def unended(state: RepartitionState | None) -> str | None:
    """Return how to complete or undo Rheostat's unfinished repartition; None if there is none."""
    if state is None or state.phase not in UNFINISHED:
        return None
    number = state.plan.partitions
    if state.phase in RETURNING:
        return (
            f"a repartition to {number} partitions was being undone: rheostat state undo completes"
            " that"
        )
    return (
        f"a repartition to {number} partitions is unfinished: complete it with --partitions"
        f" {number}, or undo it with rheostat state undo"
    )


def plan_of(checkpoint: Checkpoint, partitions: int, sink: str = "") -> Plan:
    """Return the plan of a repartition to ``partitions`` partitions."""
    last = checkpoint.last
    return Plan(
        batch=last.batch,
        partitions_before=last.partitions,
        partitions=partitions,
        lock=offset_entry(last.text, partitions),
        guard=last.text,
        sink=sink,
    )


def _require_room(folder: Path, needed: int, location: str, disk: str = "its disk") -> None:
    """Raise BadInput if a folder's disk has less space than the new state may need."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise BadInput(
            f"the new state of {location} may take {needed / 1e6:,.0f} MB, and {disk} has"
            f" {free / 1e6:,.0f} MB free: make room first"
        )


def last_sign(checkpoint: str, files: FileSystem) -> tuple[float, int]:
    """Return when a log was last written (Unix seconds), and the number of its newest entry."""
    entries: list[tuple[float, int]] = []
    for log in ("offsets", "commits"):
        for number in numbered(files, f"{checkpoint}/{log}"):
            status = files.status(f"{checkpoint}/{log}/{number}")
            if status is not None:  # a running query deletes old entries
                entries.append((status.changed_s, number))
    return max((at for at, _ in entries), default=0.0), max((n for _, n in entries), default=-1)


def require_stopped(
    checkpoint: str, files: FileSystem, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Raise BadInput if a query writes to the checkpoint; observe it for up to ``WATCH_S`` seconds
    if it was written recently.
    """
    before = last_sign(checkpoint, files)
    ends = time.time() + WATCH_S
    while time.time() - before[0] < QUIET_S and time.time() < ends:
        sleep(0.5)
        if last_sign(checkpoint, files) != before:
            raise BadInput(f"a query is running on {checkpoint}: stop it first")
