"""The Kafka offsets that a checkpoint keeps, as units that readers share: Flink's operator state.

Spark redistributes them by itself: it gives every batch's offset ranges to tasks anew, whatever has
read them before. This module predicts that; a test with a real broker verifies it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.kafka.checkpoint_offsets import topic_offsets
from rheostat.state.key_groups import split


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource:
    """A Kafka source of a query, by its number, and where each of its partitions goes on."""

    source: int
    offsets: Mapping[str, Mapping[int, int]]
    """Topic -> partition -> the first offset that the batch after this one reads."""

    @property
    def partitions(self) -> int:
        """All partitions of all topics."""
        return sum(map(len, self.offsets.values()))

    @property
    def rows(self) -> int:
        """The offsets, summed: the rows that were read, if all topics were from their beginning."""
        return sum(sum(offset.values()) for offset in self.offsets.values())


def kafka_sources(entry: str) -> tuple[KafkaSource, ...]:
    """Return the Kafka sources in an entry of the offset log (format v1); others are left out."""
    lines = entry.splitlines()
    if lines[:1] != ["v1"]:
        return ()
    numbered = ((number, topic_offsets(line)) for number, line in enumerate(lines[2:]))
    return tuple(
        KafkaSource(source=number, offsets=offsets) for number, offsets in numbered if offsets
    )


def readers(source: KafkaSource, wanted: int) -> list[dict[str, list[str]]]:
    """Return what each reader (task) of a batch reads with ``minPartitions`` = ``wanted``, where
    all partitions have as many new rows: topic -> partitions, or parts of one: ``3 (1 of 2)``.

    A partition is never read with another one in the same task, so there are at least as many
    readers as partitions; more cut each into as many ranges of offsets as Spark rounds to
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
    """Return into how many parts each partition is cut, all being of one size."""
    return max(1, int(wanted / partitions + 0.5))


def _named(partition: int, part: int, parts: int) -> str:
    return str(partition) if parts == 1 else f"{partition} ({part + 1} of {parts})"


def offset_lines(source: KafkaSource, batch: int, wanted: int | None = None) -> list[str]:
    """Return in words where a source goes on after ``batch``, and how many readers it will have."""
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
