"""Queries with much state, from Kafka: a count per key, session windows, and a join of two streams; rows of ``stateful_rows``."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as sf

WATERMARK_S = 4
JOIN_RANGE_S = 20
OUT_TOPIC = "out"


def start_stateful_query(
    spark: Any, name: str, bootstrap: str, topics: str, folder: str, trigger_s: float, out_topic: str = OUT_TOPIC, service_ms: float = 0.0
) -> Any:
    """Start a query and return it; ``topics`` are separated by commas, 0 ``trigger_s`` means batches back to back.

    The count goes in update mode to the topic ``out_topic``; sessions and join go in append mode to JSON files in ``folder``/sink. Each
    row of the input waits ``service_ms`` in its task, which stands for work that needs no processor here.
    """
    from rheostat.lab.nexmark.queries import with_service_time

    sides = [with_service_time(read_rows(spark, bootstrap, topic), service_ms) for topic in topics.split(",")]
    queries: dict[str, Any] = {"count": count, "session": session, "join": join}
    writer = queries[name](*sides).writeStream.queryName(name)
    writer = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(processingTime=f"{trigger_s:g} seconds")
    if name == "count":
        kafka = writer.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("topic", out_topic)
        return kafka.outputMode("update").start()
    return writer.format("json").option("path", f"{folder}/sink").outputMode("append").start()


def read_rows(spark: Any, bootstrap: str, topic: str) -> Any:
    """Return the stream of rows of a topic: key, seq, time, gap_s, payload (NULL if empty)."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    parts = reader.option("startingOffsets", "earliest").load().select(sf.split(sf.col("value").cast("string"), ",").alias("part"))
    return parts.selectExpr(
        "part[0] AS key", "CAST(part[1] AS BIGINT) AS seq", "timestamp_millis(CAST(part[2] AS BIGINT)) AS time",
        "CAST(part[3] AS BIGINT) AS gap_s", "nullif(part[4], '') AS payload",
    )  # fmt: skip


def count(rows: Any) -> Any:
    """Return rows, sum of their numbers and MD5 of the value of each key, as one text ``key,n,total,md5``."""
    counted = rows.groupBy("key").agg(*_aggregates())
    return counted.select(sf.concat_ws(",", "key", "n", "total", _md5()).alias("value"))


def session(rows: Any) -> Any:
    """Return the same of each session of a key, with its begin; a session ends ``gap_s`` after its last row."""
    gap = sf.expr("concat(CAST(gap_s AS STRING), ' seconds')")
    sessions = rows.withWatermark("time", f"{WATERMARK_S} seconds").groupBy("key", sf.session_window("time", gap).alias("session"))
    return sessions.agg(*_aggregates()).select("key", sf.unix_millis("session.start").alias("start_ms"), "n", "total", _md5().alias("md5"))


def join(left: Any, right: Any) -> Any:
    """Return each pair of rows of one key that are at most ``JOIN_RANGE_S`` apart: key, both numbers, MD5 of the left value."""
    one, other = (side.withWatermark("time", f"{WATERMARK_S} seconds").alias(name) for side, name in ((left, "l"), (right, "r")))
    near = f"l.key = r.key AND r.time BETWEEN l.time - INTERVAL {JOIN_RANGE_S} SECONDS AND l.time + INTERVAL {JOIN_RANGE_S} SECONDS"
    pairs = one.join(other, sf.expr(near), "inner")
    return pairs.selectExpr("l.key AS key", "l.seq AS left_seq", "r.seq AS right_seq", "md5(coalesce(l.payload, '')) AS md5")


def _aggregates() -> list[Any]:
    return [sf.count("*").alias("n"), sf.sum("seq").alias("total"), sf.max("payload").alias("payload")]


def _md5() -> Any:
    return sf.md5(sf.coalesce("payload", sf.lit("")))


