"""The Kafka offsets in a checkpoint, as units that readers share (Flink's operator state).

Spark redistributes them itself: it assigns the offset ranges of each batch to tasks anew. This
module predicts that; a test with a real broker verifies it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.kafka.checkpoint_offsets import topic_offsets
from rheostat.state.assignment import split


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


def kafka_sources(entry: str) -> tuple[KafkaSource, ...]:
    """Return the Kafka sources in an entry of the offset log (format v1); others are omitted."""
    lines = entry.splitlines()
    if lines[:1] != ["v1"]:
        return ()
    numbered = ((number, topic_offsets(line)) for number, line in enumerate(lines[2:]))
    return tuple(
        KafkaSource(source=number, offsets=offsets) for number, offsets in numbered if offsets
    )


def readers(source: KafkaSource, wanted: int) -> list[dict[str, list[str]]]:
    """Return what each reader (task) of a batch reads with ``minPartitions`` = ``wanted``, if all
    partitions have equally many new rows: topic -> partitions, or parts of one: ``3 (1 of 2)``.

    A task never reads two partitions, so there are at least as many readers as partitions; more
    readers split each partition into as many offset ranges as Spark rounds to
    (``KafkaOffsetRangeCalculator``). Raises BadInput for fewer than one reader.
    """
    parts = parts_of(source.partitions, wanted)
    before = [
        {topic: [_named(partition, part, parts) for part in range(parts)]}
        for topic, partitions in source.offsets.items()
        for partition in sorted(partitions)
    ]
    # With as many readers as partitions, each reader keeps its own; split handles both cases.
    return split(before, len(before) * parts)


def parts_of(partitions: int, wanted: int) -> int:
    """Return into how many parts each partition is split if all have the same size."""
    return max(1, int(wanted / partitions + 0.5))


def _named(partition: int, part: int, parts: int) -> str:
    return str(partition) if parts == 1 else f"{partition} ({part + 1} of {parts})"


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
        number = len(readers(source, wanted))
        parts = parts_of(source.partitions, wanted)
        per_partition = "one for each partition" if parts == 1 else f"{parts} for each partition"
        lines.append(
            f"source {source.source}: minPartitions={wanted} gives {number} readers,"
            f" {per_partition} where they have as many rows; partitions added to a topic since"
            " are read from their beginning; no row is lost or read twice"
        )
    return lines
