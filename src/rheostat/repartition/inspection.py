"""Inspects the contents of a checkpoint, partition by partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean

from rheostat.errors import BadInput
from rheostat.kafka.checkpoint_offsets import topic_offsets
from rheostat.repartition.checkpoint import HDFS_BACKED, Checkpoint, Operator
from rheostat.spark.sensing.query_shape import ROCKSDB
from rheostat.storage.file_system import FileSystem

_KNOWN: Mapping[str, frozenset[str]] = {
    "spark.sql.streaming.aggregation.stateFormatVersion": frozenset("12"),
    "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion": frozenset("12"),
    "spark.sql.streaming.join.stateFormatVersion": frozenset("1234"),
    "spark.sql.streaming.sessionWindow.stateFormatVersion": frozenset("1"),
    "spark.sql.streaming.stateStore.encodingFormat": frozenset({"unsaferow", "avro"}),
}

REPARTITIONABLE = frozenset(
    {
        "stateStoreSave",
        "sessionWindowStateStoreSaveExec",
        "dedupe",
        "dedupeWithinWatermark",
        "symmetricHashJoin",
        "flatMapGroupsWithState",
        "applyInPandasWithState",
        "transformWithStateExec",
        "transformWithStateInPandasExec",
        "transformWithStateInPySparkExec",
    }
)
"""The operators whose rows have a partition key, under the names of Spark 4.3."""

_REASONS = {
    "globalLimit": "a limit counts all rows of the query in one partition; its state has no key"
}


def unknown_format(checkpoint: Checkpoint) -> str | None:
    """Return why a checkpoint's state cannot be rewritten; None if it can.

    A newer Spark or a third-party provider may store rows in a format that a copy would corrupt.
    """
    if checkpoint.provider not in (ROCKSDB, HDFS_BACKED):
        return (
            f"the state provider {checkpoint.provider} is not known: Spark's own two can be"
            " repartitioned, RocksDB and the HDFS-backed one"
        )
    for setting, known in _KNOWN.items():
        value = checkpoint.last.settings.get(setting)
        if value is not None and value.lower() not in known:
            return (
                f"{setting} is {value}, which is not known: {' or '.join(sorted(known))} can be"
                " repartitioned"
            )
    for operator in checkpoint.operators:
        if operator.metadata_format not in (1, 2):
            return (
                f"operator {operator.id} ({operator.name}) has metadata of format"
                f" {operator.metadata_format}: 1 and 2 can be repartitioned"
            )
    return None


def refusal(operator: Operator) -> str | None:
    """Return why an operator cannot be repartitioned; None if it can."""
    if operator.name in REPARTITIONABLE:
        return None
    reason = _REASONS.get(operator.name, "its rows have no partition key that Rheostat knows")
    return f"operator {operator.id} ({operator.name}) cannot be repartitioned: {reason}"


def require_repartitionable(checkpoint: Checkpoint) -> None:
    """Raise BadInput if the state's format is unknown or an operator cannot be repartitioned."""
    for refused in (unknown_format(checkpoint), *map(refusal, checkpoint.operators)):
        if refused:
            raise BadInput(refused)


IN_USE_S = 20.0
"""Seconds since the last log entry below which a query may still be running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSize:
    """A partition of a store: the bytes of the files of all its versions, and the rows and bytes of
    keys and values of the newest one; None if they were not counted.
    """

    partition: int
    file_bytes: int
    rows: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedStore:
    """A store of an operator; ``skew`` is its largest partition over the mean, by rows if counted,
    else by the bytes of files; None for an empty store.
    """

    operator: int
    operator_name: str
    store: str
    refusal: str | None
    partitions: tuple[PartitionSize, ...]
    skew: float | None

    @property
    def rows(self) -> int | None:
        """The total number of rows; None if they were not counted."""
        counted = [partition.rows for partition in self.partitions if partition.rows is not None]
        return sum(counted) if counted else None

    @property
    def bytes(self) -> int | None:
        """The bytes of all keys and values; None if they were not counted."""
        counted = [partition.bytes for partition in self.partitions if partition.bytes is not None]
        return sum(counted) if counted else None

    @property
    def file_bytes(self) -> int:
        """The bytes of all files, of every version."""
        return sum(partition.file_bytes for partition in self.partitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The contents of a checkpoint.

    ``quiet_s`` is the age of its newest log entry, None if unknown; ``sources`` are the Kafka
    sources after the last committed batch; ``unended`` states how to end an unfinished repartition
    of Rheostat, ``missing`` names a missing file of the state; both are None if there is none. A
    query that waits for rows writes nothing: an old entry does not prove that it has stopped.
    """

    location: str
    provider: str
    format: int
    partitions: int
    last_batch: int
    uncommitted: tuple[int, ...]
    unfinished_partitions: int | None
    unended: str | None
    missing: str | None
    quiet_s: float | None
    sources: tuple[KafkaSource, ...]
    stores: tuple[InspectedStore, ...]

    @property
    def in_use(self) -> bool | None:
        """Whether its logs are so recent that a query may be using it; None if unknown."""
        return None if self.quiet_s is None else self.quiet_s < IN_USE_S


Counts = Mapping[tuple[int, str, int], tuple[int, int]]
"""(operator, store, partition) -> (rows, bytes)."""


def inspect(
    checkpoint: Checkpoint,
    files: FileSystem,
    counts: Counts,
    *,
    quiet_s: float | None = None,
    unended: str | None = None,
    missing: str | None = None,
) -> Inspection:
    """Return the inspection of a checkpoint; ``counts`` is empty if rows were not counted."""
    return Inspection(
        location=checkpoint.location,
        provider=checkpoint.provider.rpartition(".")[2],
        format=checkpoint.format,
        partitions=checkpoint.partitions,
        last_batch=checkpoint.committed.batch,
        uncommitted=tuple(planned.batch for planned in checkpoint.uncommitted),
        unfinished_partitions=checkpoint.unfinished_partitions,
        unended=unended,
        missing=missing,
        quiet_s=quiet_s,
        sources=kafka_sources(checkpoint.last.text),
        stores=tuple(
            _inspected(checkpoint, files, counts, operator, store)
            for operator in checkpoint.operators
            for store in operator.stores
        ),
    )


def _inspected(
    checkpoint: Checkpoint, files: FileSystem, counts: Counts, operator: Operator, store: str
) -> InspectedStore:
    sizes: list[PartitionSize] = []
    for partition in range(checkpoint.partitions):
        folder = f"{checkpoint.location}/state/{operator.id}/{partition}"
        size = files.size(folder if store == "default" else f"{folder}/{store}")
        rows, held = counts.get((operator.id, store, partition), (None, None))
        # An operator without a key stores everything in partition 0 and has no other folder.
        if size is not None:
            sizes.append(PartitionSize(partition=partition, file_bytes=size, rows=rows, bytes=held))
    return InspectedStore(
        operator=operator.id,
        operator_name=operator.name,
        store=store,
        refusal=refusal(operator) or unknown_format(checkpoint),
        partitions=tuple(sizes),
        skew=skew(size.file_bytes if size.rows is None else size.rows for size in sizes),
    )


def skew(sizes: Iterable[int]) -> float | None:
    """Return the largest size over the mean; None if all are 0 or there are none."""
    known = [*sizes]
    return max(known) / mean(known) if any(known) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource:
    """A Kafka source of a query, by its number, and the next offset of each of its partitions."""

    source: int
    offsets: Mapping[str, Mapping[int, int]]
    """Topic -> partition -> the first offset that the next batch reads."""

    @property
    def partitions(self) -> int:
        """The number of partitions of all topics."""
        return sum(map(len, self.offsets.values()))

    @property
    def rows(self) -> int:
        """The sum of the offsets: the rows read, if all topics were read from their beginning."""
        return sum(sum(offset.values()) for offset in self.offsets.values())

    def readers_per_partition(self, wanted: int) -> int:
        """Return how many tasks read each partition with ``minPartitions`` = ``wanted``, if all
        partitions have equally many new rows.

        A task never reads two partitions; more tasks split each one into as many offset ranges as
        Spark rounds to (``KafkaOffsetRangeCalculator``).
        """
        return max(1, int(wanted / self.partitions + 0.5))


def kafka_sources(entry: str) -> tuple[KafkaSource, ...]:
    """Return the Kafka sources in an entry of the offset log (format v1); others are omitted."""
    lines = entry.splitlines()
    if lines[:1] != ["v1"]:
        return ()
    numbered = ((number, topic_offsets(line)) for number, line in enumerate(lines[2:]))
    return tuple(
        KafkaSource(source=number, offsets=offsets) for number, offsets in numbered if offsets
    )


def offset_lines(source: KafkaSource, batch: int, wanted: int | None = None) -> list[str]:
    """Return lines about where a source continues after ``batch``, and its number of readers."""
    topics = ", ".join(
        f"{topic} ({len(partitions)} partitions)" for topic, partitions in source.offsets.items()
    )
    lines = [
        f"source {source.source}: Kafka, {topics}; it continues after the offsets of batch {batch}"
        f" ({source.rows:,} in total), independent of executors and state partitions"
    ]
    if wanted is not None:
        readers = source.readers_per_partition(wanted)
        lines.append(
            f"source {source.source}: minPartitions={wanted} gives"
            f" {readers * source.partitions} readers, {'one' if readers == 1 else readers} for each"
            " partition where they have as many rows; partitions added to a topic since are read"
            " from their beginning; no row is lost or read twice"
        )
    return lines
