"""A query on real Spark that counts words of files, and its expected output.

A batch has one file, unless Spark logged a file as the source's and was then cut off before it
planned the batch: the next start plans that file and another one together.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rheostat.storage.file_system import FileSystem, numbered

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
    return expected_of([file] for file in range(files))


def expected_of(batches: Iterable[Iterable[int]]) -> list[Any]:
    """Return the output of batches with these files; a batch without files has none."""
    counts: Counter[str] = Counter()
    out = []
    for files in batches:
        read = [word for file in files for word in words(file)]
        counts.update(read)
        if read:
            out.append(sorted([word, counts[word]] for word in set(read)))
    return out


def committed_batches(checkpoint: str, files: FileSystem) -> list[list[int]]:
    """Return the files of each batch, read from Spark's own logs; raises AssertionError unless the
    logs of offsets and commits contain the same batches, from 0 without a gap.
    """
    planned, committed = (numbered(files, f"{checkpoint}/{log}") for log in ("offsets", "commits"))
    assert planned == committed == list(range(len(planned))), (planned, committed)
    batches, read = [], -1
    for batch in planned:
        offset = json.loads(_lines(files, f"{checkpoint}/offsets/{batch}")[-1])
        entries = range(read + 1, offset["logOffset"] + 1)
        batches.append([file for entry in entries for file in _logged(files, checkpoint, entry)])
        read = offset["logOffset"]
    return batches


def _logged(files: FileSystem, checkpoint: str, entry: int) -> list[int]:
    """Return the files of an entry of the file source's log."""
    lines = _lines(files, f"{checkpoint}/sources/0/{entry}")[1:]
    return [int(Path(urlsplit(json.loads(line)["path"]).path).stem) for line in lines]


def _lines(files: FileSystem, name: str) -> list[str]:
    text = files.read_text(name)
    assert text is not None, f"{name} is missing"
    return text.splitlines()


def repartition_by_spark(folder: Path, partitions: int, exactly_once: bool = True) -> None:
    """Repartition with Spark's own runner in this process."""
    spark = session(ROCKSDB, 4)
    spark._streamingCheckpointManager.repartition(
        str(folder / "checkpoint"), partitions, exactly_once
    )


if __name__ == "__main__":
    repartition_by_spark(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "exactly-once")
