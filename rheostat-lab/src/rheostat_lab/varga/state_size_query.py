"""The query of the state-size job, Kafka to Kafka: its state is the newest value of every key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.spark.sensing.query_shape import (
    CHANGELOG,
    PROVIDER,
    ROCKSDB,
    SHUFFLE_PARTITIONS,
)

if TYPE_CHECKING:
    from rheostat_lab.varga.state_size_topics import Topics

# Evaluated per row, because Spark's current_timestamp is that of the start of the batch.
_NOW_S = "cast(reflect('java.lang.System', 'currentTimeMillis') as bigint) / 1000"


def kept(spark: Any, bootstrap: str, topic: str, most_rows: int | None = None) -> Any:
    """Return the keyed state of a topic: key, value, and the creation time of the newest record.

    A batch reads at most ``most_rows``; None means all available rows.
    """
    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    source = source.option("subscribe", topic).option("startingOffsets", "earliest")
    if most_rows is not None:
        source = source.option("maxOffsetsPerTrigger", most_rows)
    rows = source.load().select("key", "value", "timestamp")
    return rows.groupBy("key").agg({"value": "last", "timestamp": "max"})


def records(state: Any, batch: str = "") -> Any:
    """Return the output records: the key, the name of the batch, the size of the value, and the
    time elapsed since the creation of the row.
    """
    elapsed = f"{_NOW_S} - unix_millis(`max(timestamp)`) / 1000"
    # Without the size, Spark would detect that the values are unused and store none.
    size = "octet_length(`last(value)`)"
    struct = f"named_struct('batch', '{batch}', 'bytes', {size}, 'elapsed_s', {elapsed})"
    return state.selectExpr("key", f"to_json({struct}) as value")


def run(spark: Any, topics: Topics, checkpoint: Path, tasks: int, most_rows: int | None) -> Any:
    """Read all available rows, by batches of ``most_rows``, with ``tasks`` tasks that share the
    state; return the ended query.
    """
    state = kept(spark, topics.bootstrap, topics.read, most_rows).coalesce(tasks)
    query = records(state).writeStream.outputMode("update").format("kafka")
    query = query.option("kafka.bootstrap.servers", topics.bootstrap)
    query = query.option("topic", topics.written).option("checkpointLocation", str(checkpoint))
    query = query.trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def settings(partitions: int, changelog: bool = True) -> Mapping[str, str]:
    """Return the options of a session with this number of state partitions in RocksDB."""
    return {
        SHUFFLE_PARTITIONS: str(partitions),
        PROVIDER: ROCKSDB,
        CHANGELOG: str(changelog).lower(),
    }
