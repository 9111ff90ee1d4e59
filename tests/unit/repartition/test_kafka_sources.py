"""Kafka's offsets in a checkpoint, and their division among readers after a restart."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.repartition.inspection import (
    KafkaSource,
    kafka_sources,
    offset_lines,
    readers,
)

ENTRY = "\n".join(
    ["v1", json.dumps({"conf": {}}), '{"bids":{"0":5,"1":7}}', '{"logOffset":3}', "-", "17"]
)


def source(*partitions: int) -> KafkaSource:
    topics = {f"t{n}": dict.fromkeys(range(count), 10) for n, count in enumerate(partitions)}
    return KafkaSource(source=0, offsets=topics)


def test_kafka_sources_are_read_from_an_entry_with_other_sources() -> None:
    (kafka,) = kafka_sources(ENTRY)
    assert (kafka.source, kafka.offsets) == (0, {"bids": {0: 5, 1: 7}})
    assert (kafka.partitions, kafka.rows) == (2, 12)


@pytest.mark.parametrize("entry", ["", "v1", "v2\n{}\n{}", "v1\n{}\n[]"])
def test_an_entry_without_kafka_sources_has_none(entry: str) -> None:
    assert kafka_sources(entry) == ()


def test_more_readers_split_partitions_and_fewer_do_not_merge_them() -> None:
    assert readers(source(2), 4) == [
        {"t0": ["0 (1 of 2)"]},
        {"t0": ["0 (2 of 2)"]},
        {"t0": ["1 (1 of 2)"]},
        {"t0": ["1 (2 of 2)"]},
    ]
    assert readers(source(2), 1) == [{"t0": ["0"]}, {"t0": ["1"]}]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=3), st.integers(1, 60))
def test_every_partition_is_read_completely_and_once(
    partitions: list[int], min_partitions: int
) -> None:
    assignments = readers(source(*partitions), min_partitions)
    units = Counter(
        (topic, unit)
        for assignment in assignments
        for topic in assignment
        for unit in assignment[topic]
    )
    assert set(units.values()) == {1}
    read: Counter[tuple[str, str]] = Counter()
    for topic, unit in units:
        name, _, part = unit.partition(" (")
        read[topic, name] += 60 // int(part.rstrip(")").split(" of ")[1]) if part else 60
    expected = {(f"t{n}", str(p)) for n, count in enumerate(partitions) for p in range(count)}
    assert set(read) == expected
    assert all(len(units_) == 1 for assignment in assignments for units_ in assignment.values())
    assert len(assignments) >= sum(partitions)


def test_no_reader_is_without_a_partition() -> None:
    assert len(readers(source(3), 1)) == 3


def test_offsets_and_readers_are_described_in_words() -> None:
    lines = offset_lines(source(4), 7, 8)
    assert (
        "source 0: Kafka, t0 (4 partitions); it continues after the offsets of batch 7" in lines[0]
    )
    assert "minPartitions=8 gives 8 readers, 2 for each partition" in lines[1]
    assert len(offset_lines(source(4), 7)) == 1
