"""The verdict on a real file sink of Spark and a real topic of Kafka."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from rheostat_lab.demo.file_sink import LOG
from rheostat_lab.demo.verdict import verify
from rheostat_lab.nexmark.encoding import encode
from rheostat_lab.nexmark.event_topic import open_topic
from rheostat_lab.nexmark.events import events
from rheostat_lab.nexmark.queries import find_query
from rheostat_lab.nexmark.streams import parse_events
from rheostat_lab.services.broker import Broker

pytestmark = pytest.mark.e2e

CREATED_MS = int(time.time() * 1000)
"""The current time: the broker deletes records that are a week old."""
BATCHES, ROWS, COMPACT = 5, 1000, 3
"""The sink's log is compacted at every third batch."""


@pytest.fixture(scope="module")
def bootstrap(broker: Broker) -> str:
    broker.create_topic("bids", 4)
    topic = open_topic(broker.bootstrap, "bids", seed=7)
    for number in range(BATCHES):
        assert topic.write(number * ROWS, ROWS, _created_ms(number)) == ROWS
    assert topic.flush(20) == 0
    return broker.bootstrap


@pytest.fixture(scope="module")
def spark(local_spark: SparkSession) -> SparkSession:
    local_spark.conf.set("spark.sql.session.timeZone", "Europe/Budapest")
    local_spark.conf.set("spark.sql.streaming.fileSink.log.compactInterval", str(COMPACT))
    return local_spark


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same bids as files of lines, one file a batch: a stream that does not need the Kafka
    source."""
    folder = tmp_path_factory.mktemp("lines")
    for number in range(BATCHES):
        (folder / f"{number:02d}.txt").write_bytes(
            b"\n".join(encode(events("bids", 7, number * ROWS, ROWS), _created_ms(number)))
        )
    return folder


def _created_ms(number: int) -> int:
    return CREATED_MS + number * 8000


def _output(spark: SparkSession, lines: Path, query: str) -> DataFrame:
    records = spark.readStream.option("maxFilesPerTrigger", 1).text(str(lines))
    return find_query(query).frame({"bids": parse_events(records)})


def _write(output: DataFrame, sink: Path) -> Path:
    writer = (
        output.writeStream.format("parquet")
        .option("path", str(sink / "out put"))
        .option("checkpointLocation", str(sink / "checkpoint"))
    )
    query = writer.start()
    query.processAllAvailable()
    query.stop()
    return sink / "out put"


def test_a_real_q1_sink_is_exact_and_damage_is_detected(
    spark: SparkSession, bootstrap: str, lines: Path, tmp_path: Path
) -> None:
    sink = _write(_output(spark, lines, "q1"), tmp_path)
    assert (sink / LOG / f"{COMPACT - 1}.compact").is_file()
    file = next(sink.glob("part-*.parquet"))
    shutil.copy(file, sink / "part-of-a-killed-task.parquet")
    verdict = verify("q1", bootstrap, {"bids": "bids"}, sink)
    assert (verdict.exact, verdict.rows_in, verdict.rows_out) == (
        True,
        BATCHES * ROWS,
        BATCHES * ROWS,
    ), verdict.detail
    again = (sink / LOG / str(BATCHES - 1)).read_text().replace("part-", "again-part-")
    for path in sink.glob("part-*"):
        shutil.copy(path, sink / f"again-{path.name}")
    (sink / LOG / str(BATCHES)).write_text(again)
    assert verify("q1", bootstrap, {"bids": "bids"}, sink).duplicated == ROWS
    file.unlink()
    assert verify("q1", bootstrap, {"bids": "bids"}, sink).detail.startswith(
        "not verified: the sink's log names"
    )


def test_a_real_q11_sink_contains_the_closed_sessions(
    spark: SparkSession, bootstrap: str, lines: Path, tmp_path: Path
) -> None:
    sink = _write(_output(spark, lines, "q11"), tmp_path)
    verdict = verify("q11", bootstrap, {"bids": "bids"}, sink)
    assert verdict.exact, verdict.detail
    assert 0 < verdict.rows_out < verdict.rows_in


def test_a_topic_that_cannot_be_read_is_not_verified(tmp_path: Path, bootstrap: str) -> None:
    verdict = verify("q1", bootstrap, {"bids": "nothing"}, tmp_path)
    assert (verdict.exact, verdict.detail.split(":")[0]) == (False, "not verified")
