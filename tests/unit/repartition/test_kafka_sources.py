"""Kafka's offsets in a checkpoint, and how many readers each partition has."""

from __future__ import annotations

import json

import pytest

from rheostat.repartition.inspection import (
    KafkaSource,
    kafka_sources,
    offset_lines,
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
    wanted = (1, 2, 3, 4, 5, 8)
    assert [source(2).readers_per_partition(readers) for readers in wanted] == [1, 1, 2, 2, 3, 4]
    assert source(2, 1).readers_per_partition(6) == 2


def test_offsets_and_readers_are_described_in_words() -> None:
    lines = offset_lines(source(4), 7, 8)
    assert (
        "source 0: Kafka, t0 (4 partitions); it continues after the offsets of batch 7" in lines[0]
    )
    assert "minPartitions=8 gives 8 readers, 2 for each partition" in lines[1]
    fewer = offset_lines(source(4), 7, 1)[1]
    assert "minPartitions=1 gives 4 readers, one for each partition" in fewer
    assert len(offset_lines(source(4), 7)) == 1
