"""Removes an unfinished repartition of Spark's own runner from a checkpoint.

Spark 4.3 leaves a query that cannot start in three cases: it rejects the provider or an operator
after writing the offset log; it is killed; or it is killed after skipping an uncommitted batch with
an empty commit. The repair is the same: truncate the logs to the last complete state. Nothing is
deleted: the removed files are kept in ``_rheostat/attic``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from rheostat.errors import BadInput
from rheostat.repartition.checkpoint import checkpoint_folder, planned_batches
from rheostat.repartition.preflight import UNFINISHED, require_stopped
from rheostat.repartition.repartition_log import (
    OWN_FOLDER,
    RepartitionLog,
    entry_partitions,
    leased,
)
from rheostat.repartition.staging import SinkLog
from rheostat.storage.file_system import FileSystem, numbered

LATE_S = 1.0
SOON_S = 30.0
"""Limits in seconds for the commit of a skipped batch: it is at least ``LATE_S`` later than its
state, because a Spark session starts in between, and precedes the repartition's batch by less than
``SOON_S``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """The batch and partitions from which the query starts, the removed files and their folder."""

    batch: int
    partitions: int
    moved: tuple[str, ...]
    attic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The last complete batch, its partitions, the planned batch and the commits to remove."""

    batch: int
    partitions: int
    planned: int
    commits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckpointStatus:
    """The folder of a checkpoint, and its state files with the Unix times of their writing."""

    folder: str
    files: FileSystem
    state: Mapping[PurePosixPath, float]

    def entry(self, log: str, batch: int) -> str:
        """Return the path of a batch's entry in a log."""
        return f"{self.folder}/{log}/{batch}"

    def batches(self, log: str) -> list[int]:
        """Return the batches in a log."""
        return numbered(self.files, f"{self.folder}/{log}")

    def partitions(self, batch: int) -> int:
        """Return the number of state partitions of a batch; raises BadInput if unreadable."""
        return entry_partitions(self.files, self.entry("offsets", batch))


def repair(location: str, files: FileSystem | None = None) -> Repaired:
    """Undo an unfinished repartition of Spark; raises BadInput if the checkpoint has none.

    It can be repeated after a crash: the entry of the offset log that shows it is removed last.
    """
    folder, files = checkpoint_folder(location, files)
    state = RepartitionLog(folder, files).read()
    if state is not None and state.phase in UNFINISHED:
        raise BadInput(
            f"the unfinished repartition of {folder} is Rheostat's own: end it with rheostat"
            f" state repartition --partitions {state.plan.partitions}, or undo it with"
            " rheostat state undo"
        )
    diagnosis = diagnose(_checkpoint_status(folder, files))
    require_stopped(folder, files)
    with leased(folder, files):
        attic = f"{folder}/{OWN_FOLDER}/attic/{int(time.time())}"
        status = _checkpoint_status(folder, files)
        moved = tuple(_going(status, diagnose(status)))
        for name in moved:
            files.move(f"{folder}/{name}", f"{attic}/{name}")
        files.flush()
    return Repaired(
        batch=diagnosis.batch, partitions=diagnosis.partitions, moved=moved, attic=attic
    )


def repair_sink(location: str, sink: str, files: FileSystem | None = None) -> tuple[int, ...]:
    """Add missing entries for repartitions to the log of a query's file sink, regardless of the
    tool that repartitioned; return their batches. The sink is on the checkpoint's file system.

    A repartition that can still be undone gets no entry: the query may run a batch of its number.
    """
    folder, files = checkpoint_folder(location, files)
    status = CheckpointStatus(folder, files, {})
    offsets, commits = status.batches("offsets"), status.batches("commits")
    done = [
        batch
        for batch in offsets[:-1]
        if batch in commits
        and batch - 1 in offsets
        and status.partitions(batch) != status.partitions(batch - 1)
    ]
    if not done:
        raise BadInput(
            f"{folder} has no repartition in its logs after which the query has planned a batch"
        )
    log = SinkLog(files, sink)
    log.require_log()
    require_stopped(folder, files)
    with leased(folder, files):
        return tuple(batch for batch in done if log.add_empty(batch))


def diagnose(status: CheckpointStatus) -> Diagnosis:
    """Return what is wrong with the logs of a checkpoint; raises BadInput if no repair is possible
    or needed.
    """
    folder = status.folder
    offsets, commits = planned_batches(status.files, folder), status.batches("commits")
    newest = offsets[-1]
    if newest in commits:
        raise BadInput(f"{folder} needs no repair: its newest batch {newest} is committed")
    if newest - 1 not in offsets or status.partitions(newest) == status.partitions(newest - 1):
        raise BadInput(
            f"{folder} needs no repair: batch {newest} is the query's own and not committed; start"
            " the query, which runs it again"
        )
    complete = (batch for batch in reversed(commits) if not _is_skipped(status, batch))
    last = next(complete, None)
    if last is None:
        raise BadInput(f"{folder} has no committed batch to go back to: restore a backup")
    return Diagnosis(
        batch=last,
        partitions=status.partitions(last),
        planned=newest,
        commits=tuple(batch for batch in commits if batch > last),
    )


def _checkpoint_status(folder: str, files: FileSystem) -> CheckpointStatus:
    below = files.files_below(f"{folder}/state")
    state = {PurePosixPath("state", name): file.changed_s for name, file in below.items()}
    return CheckpointStatus(folder, files, state)


def _going(status: CheckpointStatus, diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the files to remove in a safe order: the state of the batch first, the entry of the
    offset log last, because no query starts while it exists.
    """
    version = diagnosis.planned + 1
    yield from (str(file) for file in sorted(status.state) if _is_of(file, version))
    for log, batches in (("commits", diagnosis.commits), ("offsets", (diagnosis.planned,))):
        for batch in batches:
            checksum = f"{log}/.{batch}.crc"
            if status.files.status(f"{status.folder}/{checksum}") is not None:
                yield checksum
            yield f"{log}/{batch}"


def _is_of(file: PurePosixPath, version: int) -> bool:
    """Return whether a file belongs to a version of the state or to its operator's metadata.

    These are ``5.zip``, ``5_ID.changelog``, their checksums (``.5.zip.crc``, ``5.zip.crc``), and in
    ``_metadata/v2`` the batch's own number, which is one less.
    """
    folders, number = file.parent.parts, file.name.lstrip(".").partition(".")[0]
    if folders[-2:] == ("_metadata", "v2"):
        return number == str(version - 1)
    if {"_metadata", "SSTs", "_stateSchema"} & {*folders}:
        return False
    return number.partition("_")[0] == str(version)


def _is_skipped(status: CheckpointStatus, batch: int) -> bool:
    """Return whether a commit is the empty one that Spark writes for a skipped batch: of the stores
    with the state before the batch, some do not have the state after it.
    """
    after = _stores(status, batch + 1)
    kept = status.files.status(status.entry("offsets", batch - 1)) is not None
    same = kept and status.partitions(batch) == status.partitions(batch - 1)
    return (
        not after or bool(same and _stores(status, batch) - after) or _is_late(status, batch, after)
    )


def _is_late(status: CheckpointStatus, batch: int, stores: set[PurePosixPath]) -> bool:
    """Return whether a commit without a watermark was written long after its state and just before
    the repartition's batch: the batch may have been stopped before its sink was done.

    Removing a valid commit only repeats a batch; keeping an invalid one loses rows.
    """
    commit = status.files.status(status.entry("commits", batch))
    lock = status.files.status(status.entry("offsets", batch + 1))
    text = status.files.read_text(status.entry("commits", batch)) or ""
    if lock is None or commit is None or '"nextBatchWatermarkMs":0' not in text:
        return False
    at_s = commit.changed_s
    written_s = max(
        when_s
        for file, when_s in status.state.items()
        if file.parent in stores and _is_of(file, batch + 1)
    )
    return at_s - written_s > LATE_S and lock.changed_s - at_s < SOON_S


def _stores(status: CheckpointStatus, version: int) -> set[PurePosixPath]:
    """Return the folders of the stores that have a version of the state."""
    return {
        file.parent
        for file in status.state
        if "_metadata" not in file.parts and _is_of(file, version)
    }
