"""The state-size job: a keyed state of a wanted size, a light steady load, and the elapsed time of
each output record.

Run by ``rheostat run``: state_size_job.py FOLDER KEYS VALUE_BYTES PARTITIONS. The keys are read
from files in the first batch; then the rate source writes some of them anew, RATE rows a second. A
record's elapsed time is the time at which its batch is written less the time at which its row was
made. Its batches go to ``FOLDER/batches.jsonl``: number, end, records, mean and longest elapsed
time.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

RATE = 50
_HEX = "sha2(cast(key as string), 512)"


def main(folder: Path, keys: int, value_bytes: int, partitions: int) -> None:
    """Run until there is a file ``enough`` in the folder, or somebody stops the query."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as sf

    builder = SparkSession.builder.appName("state of a size")
    for name, value in _options(partitions).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if not (folder / "keys").exists():
        spark.range(keys).selectExpr("id as key").write.parquet(str(folder / "keys"))
    every = spark.readStream.schema("key long").parquet(str(folder / "keys"))
    every = every.select("key", sf.current_timestamp().alias("made"))
    rate = spark.readStream.format("rate").option("rowsPerSecond", RATE).load()
    some = rate.selectExpr(f"value * 7919 % {keys} as key", "timestamp as made")
    rows = every.union(some).selectExpr(
        "key", "made", f"substr(repeat({_HEX}, {value_bytes // 128 + 1}), 1, {value_bytes}) as kept"
    )
    kept = rows.groupBy("key").agg(sf.last("kept").alias("kept"), sf.max("made").alias("made"))
    query = (
        kept.writeStream.outputMode("update")
        .queryName("state-size")
        .foreachBatch(_Sink(folder).keep)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="1 second")
        .start()
    )
    while query.isActive and not (folder / "enough").exists():
        query.awaitTermination(0.2)
    query.stop()


class _Sink:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "batches.jsonl"

    def keep(self, batch: Any, number: int) -> None:
        """Write a line for a batch, from the elapsed time of each of its records."""
        now_s = time.time()
        elapsed = f"{now_s} - unix_micros(made) / 1e6"
        (row,) = (
            batch.selectExpr(f"{elapsed} as elapsed_s", "length(kept) as bytes")
            .selectExpr("count(*) as n", "avg(elapsed_s) as mean_s", "max(elapsed_s) as max_s")
            .collect()
        )
        line = {"batch": number, "end_s": time.time(), **row.asDict()}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=float) + "\n")


def _options(partitions: int) -> dict[str, str]:
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    return {
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.streaming.stateStore.providerClass": provider,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
