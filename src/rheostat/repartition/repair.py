"""Takes a repartition out of a checkpoint that Spark's own runner has begun and not ended.

Spark 4.3 leaves a query that cannot start in three ways: it refuses the provider or an operator
after it has written the offset log; it is killed; it is killed after it has skipped an uncommitted
batch with an empty commit. Each time the cure is the same: the logs end where the state is whole.
Nothing is deleted: what is taken out is kept in ``_rheostat/attic``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rheostat.errors import BadInput
from rheostat.repartition.checkpoints.checkpoint_files import local_path
from rheostat.repartition.checkpoints.running_query import require_stopped
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.lease import leased
from rheostat.repartition.protocol.log_entry import entry_partitions
from rheostat.repartition.protocol.preflight import UNFINISHED
from rheostat.repartition.protocol.repartition_log import OWN_FOLDER, RepartitionLog
from rheostat.repartition.sites.site import LocalSite, Site

LATE_S = 1.0
SOON_S = 30.0
"""A skipped batch's commit: so much later than its state (a Spark has started meanwhile), so soon
before the repartition's batch.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """The batch and the number of partitions that the query starts from, what was taken out, and
    where it is kept.
    """

    batch: int
    partitions: int
    moved: tuple[str, ...]
    attic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The last whole batch, its number of partitions, and the batches of the logs that go."""

    batch: int
    partitions: int
    offsets: tuple[int, ...]
    commits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckpointStatus:
    """A checkpoint's folder, which may have a path's methods only, and the files of its state, with
    the time at which each was written (Unix seconds).
    """

    folder: Path
    state: Mapping[PurePosixPath, float]


def repair(location: str, disk: Disk | None = None) -> Repaired:
    """Cure a checkpoint; raises BadInput where it has no repartition of Spark's that is unfinished.

    May be called again after a crash: what goes last is the offset log's entry that shows it.
    """
    return repair_at(LocalSite(location, disk or Disk()))


def repair_at(site: Site) -> Repaired:
    """Do ``repair`` wherever the checkpoint is."""
    folder, disk = site.folder, site.disk
    state = RepartitionLog(folder, disk).read()
    if state is not None and state.phase in UNFINISHED:
        raise BadInput(
            f"the unfinished repartition of {folder} is Rheostat's own: end it with rheostat"
            f" state repartition --partitions {state.plan.partitions}, or take it back with"
            " rheostat state undo"
        )
    diagnosis = diagnose(_checkpoint_status(site))
    require_stopped(folder)
    with leased(folder, disk):
        attic = folder / OWN_FOLDER / "attic" / str(int(time.time()))
        status = _checkpoint_status(site)
        moved = tuple(_going(status, diagnose(status)))
        for name in moved:
            disk.move(folder / name, attic / name)
        disk.flush()
    return Repaired(
        batch=diagnosis.batch, partitions=diagnosis.partitions, moved=moved, attic=str(attic)
    )


def repair_sink(location: str, sink: str, disk: Disk | None = None) -> tuple[int, ...]:
    """Give the repartitions of a checkpoint, whoever has done them, the entries that they lack in
    the log of the query's file sink; return their batches.

    One that can still be taken back gets none: its number may be a batch of the query's again.
    """
    return repair_sink_at(LocalSite(location, disk or Disk()), str(local_path(sink)))


def repair_sink_at(site: Site, sink: str) -> tuple[int, ...]:
    """Do ``repair_sink`` wherever the checkpoint is; the sink is on the same file system."""
    folder = site.folder
    offsets, commits = (_batches(folder / log) for log in ("offsets", "commits"))
    done = [
        batch
        for batch in offsets[:-1]
        if batch in commits
        and batch - 1 in offsets
        and _partitions(folder, batch) != _partitions(folder, batch - 1)
    ]
    if not done:
        raise BadInput(
            f"{folder} has no repartition in its logs after which the query has planned a batch"
        )
    log = site.sink_log(sink)
    log.require_log()
    require_stopped(folder)
    with leased(folder, site.disk):
        return tuple(batch for batch in done if log.add_empty(batch))


def diagnose(status: CheckpointStatus) -> Diagnosis:
    """Return what is wrong with a checkpoint's logs; raises BadInput where nothing is that a repair
    could mend.
    """
    folder = status.folder
    offsets, commits = (_batches(folder / log) for log in ("offsets", "commits"))
    if not offsets:
        raise BadInput(
            f"{folder} is no checkpoint of a query that has started: it has no folder offsets with"
            " a batch in it"
        )
    newest = offsets[-1]
    if newest in commits:
        raise BadInput(f"{folder} needs no repair: its newest batch {newest} is committed")
    if newest - 1 not in offsets or _partitions(folder, newest) == _partitions(folder, newest - 1):
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
        partitions=_partitions(folder, last),
        offsets=(newest,),
        commits=tuple(batch for batch in commits if batch > last),
    )


def _checkpoint_status(site: Site) -> CheckpointStatus:
    below = site.written_below("state")
    return CheckpointStatus(
        site.folder, {PurePosixPath("state", name): at_s for name, at_s in below.items()}
    )


def _going(status: CheckpointStatus, diagnosis: Diagnosis) -> Iterator[str]:
    """Yield what has to go, in the order in which it may: the state of the repartition's batch
    first, the offset log's entry last, since as long as it is there no query starts.
    """
    version = diagnosis.offsets[0] + 1
    yield from (str(file) for file in sorted(status.state) if _is_of(file, version))
    for log, batches in (("commits", diagnosis.commits), ("offsets", diagnosis.offsets)):
        for batch in batches:
            checksum = f"{log}/.{batch}.crc"
            if (status.folder / checksum).exists():
                yield checksum
            yield f"{log}/{batch}"


def _is_of(file: PurePosixPath, version: int) -> bool:
    """Tell whether a file belongs to a version of the state, or to its operator's metadata.

    ``5.zip``, ``5_ID.changelog``, their checksums (``.5.zip.crc``, ``5.zip.crc``), and in
    ``_metadata/v2`` the batch's own number, which is one less.
    """
    folders, number = file.parent.parts, file.name.lstrip(".").partition(".")[0]
    if folders[-2:] == ("_metadata", "v2"):
        return number == str(version - 1)
    if {"_metadata", "SSTs", "_stateSchema"} & {*folders}:
        return False
    return number.partition("_")[0] == str(version)


def _is_skipped(status: CheckpointStatus, batch: int) -> bool:
    """Tell whether a commit is the empty one that Spark writes for a batch that it skips: of the
    stores that have the state before the batch, not all have the state after it.
    """
    folder, after = status.folder, _stores(status, batch + 1)
    kept = (folder / "offsets" / str(batch - 1)).is_file()
    same = kept and _partitions(folder, batch) == _partitions(folder, batch - 1)
    return (
        not after or bool(same and _stores(status, batch) - after) or _is_late(status, batch, after)
    )


def _is_late(status: CheckpointStatus, batch: int, stores: set[PurePosixPath]) -> bool:
    """Tell whether a commit without a watermark was written long after its state, and just before
    the repartition's batch: the batch may have been stopped before its sink was done.

    A commit that is taken back in error costs a batch that runs again, one that stays costs rows.
    """
    folder = status.folder
    commit, lock = folder / "commits" / str(batch), folder / "offsets" / str(batch + 1)
    if not lock.is_file() or '"nextBatchWatermarkMs":0' not in commit.read_text(encoding="utf-8"):
        return False
    at_s = commit.stat().st_mtime
    written_s = max(
        when_s
        for file, when_s in status.state.items()
        if file.parent in stores and _is_of(file, batch + 1)
    )
    return at_s - written_s > LATE_S and lock.stat().st_mtime - at_s < SOON_S


def _stores(status: CheckpointStatus, version: int) -> set[PurePosixPath]:
    """Return the folders of the stores that have a version of the state."""
    return {
        file.parent
        for file in status.state
        if "_metadata" not in file.parts and _is_of(file, version)
    }


def _batches(folder: Path) -> list[int]:
    return sorted(int(path.name) for path in folder.glob("*") if path.name.isdecimal())


def _partitions(folder: Path, batch: int) -> int:
    return entry_partitions(folder / "offsets" / str(batch))
