"""The logs and operators of a checkpoint as values; nothing is written.

The number of partitions comes from the offset log: operator metadata of format 1 keeps the initial
number.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.repartition.state_engine import StateIds, StateVersion
from rheostat.spark.sensing.progress import entry_of
from rheostat.spark.sensing.query_shape import PROVIDER, ROCKSDB, SHUFFLE_PARTITIONS
from rheostat.storage.file_system import FileSystem, creates_once, is_remote, local_path, numbered
from rheostat.storage.local_files import LocalFileSystem

HDFS_BACKED = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_STATE = "state"
_COPY = (
    "copy the checkpoint of the stopped query to a folder here, repartition that, and copy it back"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    """An entry of the offset log; ``text`` is the complete file as Spark wrote it."""

    batch: int
    settings: Mapping[str, str]
    text: str

    @property
    def partitions(self) -> int:
        """The number of state partitions that the batch runs with."""
        return int(self.settings[SHUFFLE_PARTITIONS])


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedBatch:
    """An entry of the commit log; ``ids`` is empty in checkpoint format 1."""

    batch: int
    ids: StateIds
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A stateful operator under Spark's name (``stateStoreSave``, ``symmetricHashJoin``...).

    ``metadata_format`` is 2 for transformWithState, whose metadata has its own versions, and 1 for
    all others; ``stores`` are the names of its stores; ``text`` is the complete file as Spark wrote
    it.
    """

    id: int
    name: str
    metadata_format: int
    stores: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint with at least one committed batch whose query has state.

    ``planned`` are the last committed batch's entry of the offset log and all later ones, in order.
    """

    location: str
    planned: tuple[PlannedBatch, ...]
    committed: CommittedBatch
    operators: tuple[Operator, ...]

    @property
    def last(self) -> PlannedBatch:
        """The last committed batch's entry of the offset log."""
        return self.planned[0]

    @property
    def uncommitted(self) -> tuple[PlannedBatch, ...]:
        """The batches that were planned but are not committed."""
        return self.planned[1:]

    @property
    def partitions(self) -> int:
        """The number of partitions of the committed state."""
        return self.last.partitions

    @property
    def provider(self) -> str:
        """The class of the state store provider."""
        return self.last.settings.get(PROVIDER, HDFS_BACKED)

    @property
    def is_rocksdb(self) -> bool:
        """Whether RocksDB stores the state."""
        return self.provider == ROCKSDB

    @property
    def format(self) -> int:
        """The version of the checkpoint's format; file names contain unique IDs in version 2."""
        return 2 if self.committed.ids else int(self.last.settings.get(FORMAT, "1"))

    @property
    def unfinished_partitions(self) -> int | None:
        """The number of partitions of a repartition that was begun but not finished: that of the
        last planned batch if it differs and is not committed; else None.
        """
        wanted = self.planned[-1].partitions
        return wanted if self.uncommitted and wanted != self.partitions else None

    @property
    def state(self) -> StateVersion:
        """The state after the last committed batch."""
        return StateVersion(
            checkpoint=self.location,
            batch=self.committed.batch,
            partitions=self.partitions,
            settings=self.last.settings,
            ids=self.committed.ids,
        )


def local_folder(location: str) -> Path:
    """Return the folder of a checkpoint on this computer; raises BadInput if it does not exist."""
    if is_remote(location):
        raise BadInput(f"{location} is not on this computer's disks: {_COPY}")
    folder = local_path(location.rstrip("/") or location)
    if not location or not folder.is_dir():
        named = location or "an empty name"
        raise BadInput(f"{named} is not a folder: name the checkpointLocation of a query")
    return folder.resolve()


def checkpoint_folder(location: str, files: FileSystem | None) -> tuple[str, FileSystem]:
    """Return the full name of a checkpoint and its file system, by default that of this computer;
    raises BadInput if the folder does not exist on this computer.
    """
    if files is None or isinstance(files, LocalFileSystem):
        return str(local_folder(location)), files or LocalFileSystem()
    return location.rstrip("/"), files


def refused_place(location: str) -> str | None:
    """Return why a checkpoint cannot be repartitioned in its location; None if it can."""
    if creates_once(location):
        return None
    return (
        f"{location} is neither on this computer's disks nor on HDFS, S3 (s3a://) or GCS (gs://):"
        f" {_COPY}"
    )


def read_checkpoint(location: str, files: FileSystem) -> Checkpoint:
    """Return the contents of a checkpoint; raises BadInput if it is not one, or has no committed
    batch, no state or no metadata of its operators.
    """
    location = location.rstrip("/") or "/"
    offsets, commits = planned_batches(files, location), numbered(files, f"{location}/commits")
    if not commits:
        raise BadInput(
            f"{location} has no committed batch: run its query until one batch is done, then again"
        )
    last = commits[-1]
    if last not in offsets:
        raise BadInput(
            f"{location}/offsets/{last} is missing, though batch {last} is committed: restore it"
            " from a backup"
        )
    operators = tuple(_operators(files, location, last))
    return Checkpoint(
        location=location,
        planned=tuple(_planned(files, location, batch) for batch in offsets[offsets.index(last) :]),
        committed=_committed(files, location, last),
        operators=operators,
    )


def planned_batches(files: FileSystem, location: str) -> list[int]:
    """Return the batches in the offset log; raises BadInput if there are none."""
    batches = numbered(files, f"{location}/offsets")
    if not batches:
        raise BadInput(
            f"{location} is not the checkpoint of a started query: it has no folder offsets"
            " with a batch in it"
        )
    return batches


def _planned(files: FileSystem, location: str, batch: int) -> PlannedBatch:
    name = f"{location}/offsets/{batch}"
    text = files.read_text(name) or ""
    version, settings = entry_of(name, text)
    if version not in ("v1", "v2"):
        raise BadInput(f"{name} has format {version!r}; v1 and v2 can be read")
    if not settings.get(SHUFFLE_PARTITIONS, "").isdecimal():
        raise BadInput(
            f"{name} does not contain {SHUFFLE_PARTITIONS}: Spark 2.3 or later writes it"
        )
    return PlannedBatch(batch=batch, settings=settings, text=text)


def _committed(files: FileSystem, location: str, batch: int) -> CommittedBatch:
    name = f"{location}/commits/{batch}"
    text = files.read_text(name) or ""
    try:
        version, _, body = text.partition("\n")
        ids = json.loads(body or "{}").get("stateUniqueIds") or {}
        kept = {
            operator: tuple(tuple(stores) for stores in partitions)
            for operator, partitions in ids.items()
        }
    except (ValueError, TypeError, AttributeError):
        raise BadInput(
            f"{name} is not an entry of a commit log: its second line should be JSON"
        ) from None
    if version not in ("v1", "v2", "v3"):
        raise BadInput(f"{name} has format {version!r}; v1 to v3 can be read")
    return CommittedBatch(batch=batch, ids=kept, text=text)


def _operators(files: FileSystem, location: str, batch: int) -> Iterator[Operator]:
    numbers = numbered(files, f"{location}/{_STATE}")
    if not numbers:
        raise BadInput(f"{location} has no state: its query keeps none")
    for number in numbers:
        yield _operator(files, f"{location}/{_STATE}/{number}", batch)


def _operator(files: FileSystem, folder: str, batch: int) -> Operator:
    versions = [
        version for version in numbered(files, f"{folder}/_metadata/v2") if version <= batch
    ]
    name = f"{folder}/_metadata/" + (f"v2/{versions[-1]}" if versions else "metadata")
    text = files.read_text(name)
    if text is None:
        raise BadInput(
            f"{name} is missing: an older Spark has written this checkpoint; run one batch of its"
            " query on Spark 4.0 or later first"
        )
    try:
        return _parsed_operator(text)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{name} is not the metadata of an operator: its second line should be JSON with"
            " operatorInfo and stateStoreInfo"
        ) from None


def _parsed_operator(text: str) -> Operator:
    version, body = text.split("\n", 1)
    metadata: dict[str, Any] = json.loads(body)
    return Operator(
        id=int(metadata["operatorInfo"]["operatorId"]),
        name=str(metadata["operatorInfo"]["operatorName"]),
        metadata_format=int(version.removeprefix("v")),
        text=text,
        stores=tuple(str(store["storeName"]) for store in metadata["stateStoreInfo"]),
    )


_NAME = re.compile(r"^(\d+)(_[^.]*)?\.(zip|snapshot|changelog|delta)$")
_SNAPSHOT_SUFFIXES = ("zip", "snapshot")


def missing_file(checkpoint: Checkpoint) -> str | None:
    """Return the first missing file of a checkpoint on this computer; None if all exist.

    A version is a snapshot (``zip``, ``snapshot``) and every change after it (``changelog``,
    ``delta``); a ``zip`` names its table files.
    """
    version = checkpoint.committed.batch + 1
    for folder in _folders(checkpoint):
        for name in _missing(folder, version):
            return str(folder / name)
    return None


def _folders(checkpoint: Checkpoint) -> Iterator[Path]:
    """Yield a folder per store and partition; an operator without a key has partition 0 only."""
    state = Path(checkpoint.location) / "state"
    for operator in checkpoint.operators:
        root = state / str(operator.id)
        keyed = any(path.name.isdecimal() and int(path.name) for path in root.iterdir())
        for partition in range(checkpoint.partitions if keyed else 1):
            for store in operator.stores:
                place = root / str(partition)
                yield place if store == "default" else place / store


def _missing(folder: Path, version: int) -> Iterator[str]:
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    versions = [(int(name[1]), name[3], name[0]) for name in map(_NAME.match, names) if name]
    first = max(
        (
            number
            for number, kind, _ in versions
            if kind in _SNAPSHOT_SUFFIXES and number <= version
        ),
        default=0,
    )
    changed = {number for number, kind, _ in versions if kind not in _SNAPSHOT_SUFFIXES}
    is_hdfs = any(kind in ("snapshot", "delta") for _, kind, _ in versions)
    for number in range(version, first, -1):
        if number not in changed:
            yield f"{number}.{'delta' if is_hdfs else 'changelog'}"
    archives = [name for number, kind, name in versions if number == first and kind == "zip"]
    if len(archives) == 1:  # of several attempts, only the commit log identifies the valid one
        yield from _missing_tables(folder, folder / archives[0])


def _missing_tables(folder: Path, archive: Path) -> Iterator[str]:
    try:
        with zipfile.ZipFile(archive) as packed:
            metadata = json.loads(packed.read("metadata").split(b"\n", 1)[1])
        tables = [
            (sstfile["dfsSstFileName"], sstfile["sizeBytes"]) for sstfile in metadata["sstFiles"]
        ]
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, IndexError):
        return  # loading it reports the error
    for name, size in tables:
        file = folder / "SSTs" / name
        if not file.is_file() or file.stat().st_size != size:
            yield f"SSTs/{name}"


def operator_metadata(text: str, partitions: int) -> str:
    """Return the text of an operator's metadata with another number of partitions."""
    version, body = text.split("\n", 1)
    metadata = json.loads(body)
    for store in metadata["stateStoreInfo"]:
        store["numPartitions"] = partitions
    return f"{version}\n{json.dumps(metadata, separators=(',', ':'))}"
