"""A job with a file sink and a Kafka sink under a supervisor that repartitions its state: both
sinks have the output of an uninterrupted run, across the next compaction of the file sink's log.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from confluent_kafka import Consumer, TopicPartition
from tests.e2e.repartition.counting_query import expected, feed, words
from tests.e2e.supervised_job import Supervised, needs_rescaling, rheostat

from rheostat.kafka.client import settings
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.storage.local_files import LocalFileSystem
from rheostat_lab.services.broker import Broker

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, needs_rescaling]
FILES = 13
"""Spark compacts the log of a file sink in batch 9, and its readers need every number before it."""

SCRIPT = """
import sys, time
from pathlib import Path
from pyspark.sql import SparkSession

folder, bootstrap, topic = Path(sys.argv[1]), *sys.argv[2:]
spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "PARTITIONS").getOrCreate()

def words():
    source = spark.readStream.schema("word string").option("maxFilesPerTrigger", 1)
    return source.json(str(folder / "input"))

def writer(frame, mode, name):
    start = frame.writeStream.outputMode(mode).queryName(name).trigger(processingTime="1 second")
    return start.option("checkpointLocation", str(folder / "checkpoints" / name))

once = writer(words().dropDuplicates(["word"]), "append", "once").format("json")
counted = words().groupBy("word").count().selectExpr("word AS key", "string(count) AS value")
counts = writer(counted, "update", "counts").format("kafka").option("topic", topic)
queries = [
    once.start(str(folder / "written")),
    counts.option("kafka.bootstrap.servers", bootstrap).start(),
]
while any(query.isActive for query in queries) and not (folder / "enough").exists():
    time.sleep(0.2)
    for query in queries:
        if query.exception():
            raise query.exception()
for query in queries:
    query.stop()
"""


class Topic:
    """The records of the output topic so far: each word with its counts."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.name = name
        self.received: list[list[object]] = []
        self._consumer = Consumer(settings({"bootstrap.servers": bootstrap, "group.id": "test"}))
        self._consumer.assign([TopicPartition(name, 0, 0)])

    def rows(self) -> list[list[object]]:
        while records := self._consumer.consume(1000, 0.2):
            for record in records:
                if record.error() is None:
                    self.received.append([record.key().decode(), int(record.value())])
        return sorted(self.received)


def written(folder: Path) -> list[str]:
    """Return the words in the files that the sink's log names, as a Spark reader would."""
    log = folder / "written" / "_spark_metadata"
    entries = [log_file for log_file in log.glob("*") if log_file.name.split(".")[0].isdecimal()]
    named = {
        json.loads(line)["path"] for entry in entries for line in entry.read_text().splitlines()[1:]
    }
    files = [Path(unquote(urlparse(path).path)) for path in named]
    lines = [line for file in files for line in file.read_text().splitlines()]
    return sorted(json.loads(line)["word"] for line in lines)


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> Topic:
    broker.create_topic(request.node.name, 1)
    return Topic(broker.bootstrap, request.node.name)


def job(folder: Path, broker: Broker, topic: Topic, partitions: int, *options: str) -> Supervised:
    script = SCRIPT.replace("PARTITIONS", str(partitions))
    kafka = ("--kafka", broker.bootstrap)
    return Supervised(folder, script, *kafka, *options, arguments=(broker.bootstrap, topic.name))


def run_on(running: Supervised, topic: Topic) -> None:
    """Append the rest, and wait until both sinks have all of it."""
    running.restarted()
    feed(running.folder, range(3, FILES))
    every = sorted({word for file in range(FILES) for word in words(file)})
    counts = sorted(row for batch in expected(FILES) for row in batch)
    running.until("all counts", lambda: len(topic.rows()) >= len(counts))
    running.until("all words", lambda: len(written(running.folder)) >= len(every))
    running.until("the compaction", lambda: _compacted(running.folder))
    running.enough()
    assert topic.rows() == counts
    assert written(running.folder) == every


def _compacted(folder: Path) -> bool:
    return (folder / "written" / "_spark_metadata" / "9.compact").exists()


def partitions_of(folder: Path) -> dict[str, int]:
    return {
        checkpoint.name: read_checkpoint(str(checkpoint), LocalFileSystem()).partitions
        for checkpoint in (folder / "checkpoints").iterdir()
    }


def test_a_requested_repartition_keeps_both_sinks_exact(
    tmp_path: Path, broker: Broker, topic: Topic
) -> None:
    feed(tmp_path, range(3))
    with job(tmp_path, broker, topic, 3) as running:
        running.until("two batches", lambda: len(topic.rows()) > len(expected(1)[0]))
        running.until("its file sink", lambda: bool(written(tmp_path)))
        rheostat("restart", str(running.journal), "--executors", "2", "--partitions", "6")
        run_on(running, topic)
        (restart,) = running.restarts()
    assert (restart.partitions_before, restart.partitions, restart.refusal) == (3, 6, "")
    assert partitions_of(tmp_path) == {"once": 6, "counts": 6}


def test_an_automatic_repartition_keeps_both_sinks_exact(
    tmp_path: Path, broker: Broker, topic: Topic
) -> None:
    feed(tmp_path, range(3))
    allowed = ["--allow-repartition", "--maintenance-window", "00:00-24:00"]
    fixed = ["--policy", "fixed", "--set", "executors=2", "--restart-pause", "1"]
    with job(tmp_path, broker, topic, 1, *allowed, *fixed) as running:
        run_on(running, topic)
        (restart,) = running.restarts()
    assert (restart.executors, restart.partitions, restart.refusal) == (2, 2, "")
    assert partitions_of(tmp_path) == {"once": 2, "counts": 2}
