"""Takes a repartition out of a checkpoint that Spark's own runner has begun and not ended.

Spark 4.3 leaves a query that cannot start in three ways: it refuses the provider or an operator
after it has written the offset log; it is killed; it is killed after it has skipped an uncommitted
batch with an empty commit. Each time the cure is the same: the logs end where the state is whole.
Nothing is deleted: what is taken out is kept in ``_rheostat/attic``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.repartition.checkpoints.checkpoint_files import local_path
from rheostat.repartition.checkpoints.running_query import require_stopped
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.lease import leased
from rheostat.repartition.protocol.own_journal import OWN_FOLDER, OwnJournal
from rheostat.repartition.protocol.preflight import UNFINISHED, own_checkpoint
from rheostat.repartition.protocol.sink_log import SinkLog
from rheostat.spark.sensing.query_shape import SHUFFLE_PARTITIONS

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


def repair(location: str, disk: Disk | None = None) -> Repaired:
    """Cure a checkpoint; raises BadInput where it has no repartition of Spark's that is unfinished.

    May be called again after a crash: what goes last is the offset log's entry that shows it.
    """
    disk = disk or Disk()
    folder = own_checkpoint(location)
    story = OwnJournal(folder, disk).read()
    if story is not None and story.phase in UNFINISHED:
        raise BadInput(
            f"the unfinished repartition of {location} is Rheostat's own: end it with rheostat"
            f" state rescale --partitions {story.plan.partitions}, or take it back with rheostat"
            " state undo"
        )
    found = diagnose(folder)
    require_stopped(folder)
    with leased(folder, disk):
        attic = folder / OWN_FOLDER / "attic" / str(int(time.time()))
        moved = tuple(_going(folder, diagnose(folder)))
        for name in moved:
            disk.move(folder / name, attic / name)
        disk.flush()
    return Repaired(batch=found.batch, partitions=found.partitions, moved=moved, attic=str(attic))


def repair_sink(location: str, sink: str, disk: Disk | None = None) -> tuple[int, ...]:
    """Give the repartitions of a checkpoint, whoever has done them, the entries that they lack in
    the log of the query's file sink; return their batches.

    One that can still be taken back gets none: its number may be a batch of the query's again.
    """
    disk = disk or Disk()
    folder = own_checkpoint(location)
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
    log = SinkLog(local_path(sink).absolute(), disk)
    log.require_log()
    require_stopped(folder)
    with leased(folder, disk):
        return tuple(batch for batch in done if log.add_empty(batch))


def diagnose(folder: Path) -> Diagnosis:
    """Return what is wrong with a checkpoint's logs; raises BadInput where nothing is that a repair
    could mend.
    """
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
    whole = (batch for batch in reversed(commits) if not _is_skipped(folder, batch))
    last = next(whole, None)
    if last is None:
        raise BadInput(f"{folder} has no committed batch to go back to: restore a backup")
    return Diagnosis(
        batch=last,
        partitions=_partitions(folder, last),
        offsets=(newest,),
        commits=tuple(batch for batch in commits if batch > last),
    )


def _going(folder: Path, found: Diagnosis) -> Iterator[str]:
    """Yield what has to go, in the order in which it may: the state of the repartition's batch
    first, the offset log's entry last, since as long as it is there no query starts.
    """
    version = found.offsets[0] + 1
    for root, _, names in os.walk(folder / "state"):
        inside = Path(root).relative_to(folder)
        yield from (str(inside / name) for name in sorted(names) if _is_of(inside, name, version))
    for log, batches in (("commits", found.commits), ("offsets", found.offsets)):
        for batch in batches:
            checksum = Path(log) / f".{batch}.crc"
            if (folder / checksum).exists():
                yield str(checksum)
            yield f"{log}/{batch}"


def _is_of(folder: Path, name: str, version: int) -> bool:
    """Tell whether a file belongs to a version of the state, or to its operator's metadata.

    ``5.zip``, ``5_ID.changelog``, their checksums (``.5.zip.crc``, ``5.zip.crc``), and in
    ``_metadata/v2`` the batch's own number, which is one less.
    """
    if folder.parts[-2:] == ("_metadata", "v2"):
        return name.lstrip(".").partition(".")[0] == str(version - 1)
    if "_metadata" in folder.parts or "SSTs" in folder.parts or "_stateSchema" in folder.parts:
        return False
    number = name.lstrip(".").partition(".")[0].partition("_")[0]
    return number == str(version)


def _is_skipped(folder: Path, batch: int) -> bool:
    """Tell whether a commit is the empty one that Spark writes for a batch that it skips: of the
    stores that have the state before the batch, not all have the state after it.
    """
    after = _stores(folder, batch + 1)
    kept = (folder / "offsets" / str(batch - 1)).is_file()
    same = kept and _partitions(folder, batch) == _partitions(folder, batch - 1)
    return (
        not after or bool(same and _stores(folder, batch) - after) or _is_late(folder, batch, after)
    )


def _is_late(folder: Path, batch: int, stores: set[Path]) -> bool:
    """Tell whether a commit without a watermark was written long after its state, and just before
    the repartition's batch: the batch may have been stopped before its sink was done.

    A commit that is taken back in error costs a batch that runs again, one that stays costs rows.
    """
    commit, lock = folder / "commits" / str(batch), folder / "offsets" / str(batch + 1)
    if not lock.is_file() or '"nextBatchWatermarkMs":0' not in commit.read_text(encoding="utf-8"):
        return False
    at_s = commit.stat().st_mtime
    written_s = max(
        each.stat().st_mtime
        for store in stores
        for each in store.iterdir()
        if _is_of(store.relative_to(folder), each.name, batch + 1)
    )
    return at_s - written_s > LATE_S and lock.stat().st_mtime - at_s < SOON_S


def _stores(folder: Path, version: int) -> set[Path]:
    """Return the folders of the stores that have a version of the state."""
    return {
        Path(root)
        for root, _, names in os.walk(folder / "state")
        if "_metadata" not in Path(root).parts
        and any(_is_of(Path(root).relative_to(folder), name, version) for name in names)
    }


def _batches(folder: Path) -> list[int]:
    return sorted(int(each.name) for each in folder.glob("*") if each.name.isdecimal())


def _partitions(folder: Path, batch: int) -> int:
    file = folder / "offsets" / str(batch)
    try:
        conf = json.loads(file.read_text(encoding="utf-8").split("\n")[1])["conf"]
        return int(conf[SHUFFLE_PARTITIONS])
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        raise BadInput(f"{file} is no entry of an offset log: restore it from a backup") from None
