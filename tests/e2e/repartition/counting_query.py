"""A query on real Spark that counts words of files, one file a batch, and its expected output."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

FIRST_S = 1_700_000_000


def session(provider: str, partitions: int, more: Mapping[str, str] | None = None) -> Any:
    """Start a small session, which ``stop`` ends."""
    from pyspark.sql import SparkSession

    options = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.streaming.stateStore.providerClass": provider,
        **(more or {}),
    }
    builder = SparkSession.builder.master("local[2]").appName("counting")
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for name in ("spark.sql.shuffle.partitions", "spark.sql.streaming.stateStore.providerClass"):
        spark.conf.set(name, options[name])
    return spark


def words(file: int) -> list[str]:
    """Return the words of a file."""
    return [f"word-{(file * 31 + n * 7) % 97}" for n in range(60)]


def feed(folder: Path, files: range) -> None:
    """Write files for the query to read."""
    (folder / "input").mkdir(parents=True, exist_ok=True)
    for file in files:
        text = "\n".join(json.dumps({"word": word}) for word in words(file))
        part = folder / "input.part"
        part.write_text(text)
        os.utime(part, (FIRST_S + file, FIRST_S + file))  # Spark reads the oldest file first
        part.replace(folder / "input" / f"{file:03}.json")  # a running query lists complete files


def run(spark: Any, folder: Path, files: Path | None = None, checkpoint: str = "") -> None:
    """Read all existing files, one a batch, and end.

    ``files`` is their folder if it is not the query's own, because a checkpoint stores full names;
    ``checkpoint`` is the checkpoint if it is not in the folder.
    """

    def keep(batch: Any, number: int) -> None:
        rows = [[row["word"], row["count"]] for row in batch.collect()]
        (folder / "sink").mkdir(exist_ok=True)
        (folder / "sink" / f"{number:03}").write_text(json.dumps(sorted(rows)))

    source = spark.readStream.schema("word string").option("maxFilesPerTrigger", 1)
    counted = source.json(str(files or folder / "input")).groupBy("word").count()
    query = (
        counted.writeStream.outputMode("update")
        .foreachBatch(keep)
        .option("checkpointLocation", checkpoint or str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def output(folder: Path) -> list[Any]:
    """Return the complete output of the query, batch by batch."""
    return [json.loads(file.read_text()) for file in sorted((folder / "sink").glob("*"))]


def expected(files: int) -> list[Any]:
    """Return the output of an uninterrupted run."""
    counts: Counter[str] = Counter()
    out = []
    for file in range(files):
        counts.update(words(file))
        out.append(sorted([word, counts[word]] for word in set(words(file))))
    return out


def repartition_by_spark(folder: Path, partitions: int, exactly_once: bool = True) -> None:
    """Repartition with Spark's own runner in this process."""
    spark = session(ROCKSDB, 4)
    spark._streamingCheckpointManager.repartition(
        str(folder / "checkpoint"), partitions, exactly_once
    )


if __name__ == "__main__":
    repartition_by_spark(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "exactly-once")
