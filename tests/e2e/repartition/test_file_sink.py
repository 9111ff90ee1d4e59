"""A query with a file sink continues across the next compaction of its sink's log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.test_kills_on_spark import quiet

from rheostat.repartition.repair import repair_sink
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.repartition.spark_rewriter import SparkRewriter

pytestmark = pytest.mark.thorough

FILES = 13
"""Spark compacts batch 9, and its readers need every number before it."""


def run(spark: Any, folder: Path) -> None:
    """Write every word once, one file a batch."""
    source = spark.readStream.schema("word string").option("maxFilesPerTrigger", 1)
    once = source.json(str(folder / "input")).dropDuplicates(["word"])
    query = once.writeStream.format("json").outputMode("append")
    query = query.option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start(str(folder / "output")).awaitTermination()


def words(spark: Any, folder: Path) -> list[str]:
    return sorted(row["word"] for row in spark.read.json(str(folder / "output")).collect())


@pytest.fixture
def spark(driver: dict[str, str], tmp_path: Path) -> Any:
    session = counting.session(counting.ROCKSDB, 2)
    counting.feed(tmp_path, range(4))
    run(session, tmp_path)
    yield session
    session.stop()


def assert_continues(spark: Any, folder: Path) -> None:
    counting.feed(folder, range(4, FILES))
    run(spark, folder)
    every = sorted({word for file in range(FILES) for word in counting.words(file)})
    assert words(spark, folder) == every


def test_a_file_sink_survives_repartitions_and_a_rollback(spark: Any, tmp_path: Path) -> None:
    checkpoint, sink = str(tmp_path / "checkpoint"), str(tmp_path / "output")
    for partitions in (3, 5):
        repartition(
            checkpoint,
            partitions,
            lambda _: SparkRewriter(spark),
            sink=sink,
            check_stopped=quiet,
        )
        if partitions == 3:
            undo(checkpoint, check_stopped=quiet)
    assert_continues(spark, tmp_path)


@pytest.mark.parametrize("runner", ["rheostat", "spark"])
def test_without_the_sink_option_the_query_fails_until_repaired(
    spark: Any, tmp_path: Path, runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rheostat.repartition.repair.require_stopped", quiet)
    checkpoint = str(tmp_path / "checkpoint")
    if runner == "spark":
        spark._streamingCheckpointManager.repartition(checkpoint, 3)
    else:
        repartition(checkpoint, 3, lambda _: SparkRewriter(spark), check_stopped=quiet)
    with pytest.raises(StreamingQueryException, match="BATCH_METADATA_NOT_FOUND"):
        assert_continues(spark, tmp_path)
    assert repair_sink(checkpoint, str(tmp_path / "output")) == (4,)
    assert_continues(spark, tmp_path)
