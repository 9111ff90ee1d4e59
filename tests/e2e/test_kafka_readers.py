"""The offsets of a real Kafka topic are divided among more and fewer readers after restarts, with
added partitions: every row is read exactly once, by as many readers as planned.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.inspection import kafka_sources
from rheostat.storage.local_files import LocalFileSystem
from rheostat_lab.services.broker import Broker

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
ROWS = 40
"""Rows of each partition in each round."""


class Query:
    """A keyed count of a topic that records for each batch which task has read which offset."""

    def __init__(self, spark: SparkSession, bootstrap: str, topic: str, folder: Path) -> None:
        self.spark, self.bootstrap, self.topic, self.folder = spark, bootstrap, topic, folder
        self.read: list[tuple[int, int, int, int]] = []
        self.counts: dict[str, int] = {}

    def run(self, wanted: int | None) -> None:
        """Start it, read all existing rows, and stop; each start is a restart."""
        source = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
        )
        if wanted is not None:
            source = source.option("minPartitions", wanted)
        reader = sf.spark_partition_id()
        rows = source.load().select(
            sf.col("key").cast("string"), "partition", "offset", reader.alias("reader")
        )
        tagged = sf.struct("partition", "offset", "reader")
        counted = rows.groupBy("key").agg(sf.collect_list(tagged).alias("seen"))
        start = counted.writeStream.outputMode("update").trigger(availableNow=True)
        start = start.option("checkpointLocation", str(self.folder / "checkpoint"))
        start.foreachBatch(self._keep).start().awaitTermination()

    def _keep(self, batch: Any, number: int) -> None:
        for row in batch.collect():
            self.counts[row["key"]] = len(row["seen"])  # the state has all rows of the key so far
            known = {(p, o) for _, p, o, _ in self.read}
            for record in row["seen"]:
                if (record["partition"], record["offset"]) not in known:
                    self.read.append(
                        (number, record["partition"], record["offset"], record["reader"])
                    )

    def readers_of(self, batch: int) -> dict[int, int]:
        """Return the number of tasks that have read each partition in a batch."""
        tasks_by_partition = defaultdict(set)
        for number, partition, _, reader in self.read:
            if number == batch:
                tasks_by_partition[partition].add(reader)
        return {partition: len(tasks) for partition, tasks in tasks_by_partition.items()}


def append(bootstrap: str, topic: str, partitions: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for partition in range(partitions):
        for number in range(ROWS):
            producer.produce(topic, b"row", f"key-{number % 7}".encode(), partition)
    assert producer.flush(30) == 0


def grow(bootstrap: str, topic: str, partitions: int) -> None:
    client = AdminClient({"bootstrap.servers": bootstrap})
    client.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)


def planned(query: Query, wanted: int) -> dict[int, int]:
    """Return the planned number of readers of each partition, from the current checkpoint."""
    checkpoint = read_checkpoint(str(query.folder / "checkpoint"), LocalFileSystem())
    (source,) = kafka_sources(checkpoint.last.text)
    return dict.fromkeys(source.offsets[query.topic], source.readers_per_partition(wanted))


def test_every_row_is_read_once_with_any_number_of_readers(
    local_spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic, bootstrap = f"readers-{tmp_path.name}", broker.bootstrap
    broker.create_topic(topic, 2)
    query = Query(local_spark, bootstrap, topic, tmp_path)
    append(bootstrap, topic, 2)
    query.run(None)
    assert query.readers_of(0) == {0: 1, 1: 1}

    append(bootstrap, topic, 2)
    promised = planned(query, 4)
    query.run(4)  # more readers than partitions
    assert query.readers_of(1) == promised == {0: 2, 1: 2}

    grow(bootstrap, topic, 4)  # between stop and start
    append(bootstrap, topic, 4)
    query.run(1)  # fewer readers than partitions
    assert query.readers_of(2) == {0: 1, 1: 1, 2: 1, 3: 1}

    append(bootstrap, topic, 4)
    promised = planned(query, 8)
    query.run(8)
    assert query.readers_of(3) == promised == {0: 2, 1: 2, 2: 2, 3: 2}

    read = sorted((partition, offset) for _, partition, offset, _ in query.read)
    ends = {0: 4 * ROWS, 1: 4 * ROWS, 2: 2 * ROWS, 3: 2 * ROWS}
    assert read == [(p, offset) for p, end in ends.items() for offset in range(end)]
    assert sum(query.counts.values()) == len(read)  # the state has no duplicates either
    last = (tmp_path / "checkpoint" / "offsets" / "3").read_text().splitlines()[-1]
    assert json.loads(last) == {topic: {str(p): end for p, end in ends.items()}}
