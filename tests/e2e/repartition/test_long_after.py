"""Checkpoints long after a repartition, when Spark has deleted all older files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.test_kills_on_spark import quiet

from rheostat.repartition.spark_repartition import repartition
from rheostat.repartition.spark_rewriter import SparkRewriter

pytestmark = pytest.mark.thorough

STORE = "spark.sql.streaming.stateStore"
SOON = {
    "spark.sql.streaming.minBatchesToRetain": "2",
    f"{STORE}.maintenanceInterval": "500ms",
    f"{STORE}.minDeltasForSnapshot": "3",
    f"{STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing"
        ".FileSystemBasedCheckpointFileManager"
    ),
}
"""Settings that create snapshots and delete old versions and log entries within a few batches."""
PART = 14


@pytest.mark.parametrize("provider", [counting.ROCKSDB, counting.HDFS])
def test_the_query_continues_after_all_older_files_are_deleted(
    driver: dict[str, str], tmp_path: Path, provider: str
) -> None:
    checkpoint = str(tmp_path / "checkpoint")
    spark = counting.session(provider, 4, SOON)
    try:
        for name, value in SOON.items():
            spark.conf.set(name, value)
        for part, partitions in enumerate((7, 3, None)):
            counting.feed(tmp_path, range(part * PART, (part + 1) * PART))
            counting.run(spark, tmp_path)
            if partitions:
                repartition(
                    checkpoint, partitions, lambda _: SparkRewriter(spark), check_stopped=quiet
                )
        assert counting.output(tmp_path) == counting.expected(3 * PART)
        kept = sorted(int(entry.name) for entry in (tmp_path / "checkpoint/offsets").glob("[0-9]*"))
        assert kept[0] > 2 * PART
    finally:
        spark.stop()
