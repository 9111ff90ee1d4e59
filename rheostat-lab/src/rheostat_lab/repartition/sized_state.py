"""A checkpoint with state of a given size: a number of keys, each with a random string."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rheostat.spark.sensing.query_shape import (
    CHANGELOG,
    PROVIDER,
    ROCKSDB,
    SHUFFLE_PARTITIONS,
)

SCHEMA = "key long, value string"


def write_state(
    spark: Any, folder: Path, keys: int, value_bytes: int, partitions: int, changelog: bool = True
) -> Path:
    """Return the checkpoint of a query that stored the newest value of every key, in RocksDB."""
    settings = {
        PROVIDER: ROCKSDB,
        CHANGELOG: str(changelog).lower(),
        SHUFFLE_PARTITIONS: str(partitions),
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    rows = spark.range(keys).selectExpr(
        "id as key", f"substr(repeat({_HEX}, 9), 1, {value_bytes}) as value"
    )
    rows.write.parquet(str(folder / "rows"))
    run(spark, folder, folder / "checkpoint")
    return folder / "checkpoint"


_HEX = "sha2(cast(id as string), 512)"


def run(spark: Any, folder: Path, checkpoint: Path) -> None:
    """Run the query over the existing rows."""
    rows = spark.readStream.schema(SCHEMA).parquet(str(folder / "rows"))
    query = rows.groupBy("key").agg({"value": "last"}).writeStream.outputMode("update")
    query = query.format("noop").option("checkpointLocation", str(checkpoint))
    query.trigger(availableNow=True).start().awaitTermination()
