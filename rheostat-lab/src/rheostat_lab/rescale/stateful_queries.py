"""Stateful queries from Kafka, one for each kind of stateful operator and one with several, over
rows of ``stateful_rows``.
"""

from __future__ import annotations

from typing import Any

import pyspark
from pyspark.sql import functions as sf

from rheostat.errors import BadInput

WATERMARK_S = 4
JOIN_RANGE_S = 20
WINDOW_S = 5
OUT_TOPIC = "out"
UPDATED = ("count", "transform")
"""Queries that output a key's row again whenever it changes; the others output each row once."""


def start_stateful_query(
    spark: Any,
    name: str,
    bootstrap: str,
    topics: str,
    folder: str,
    trigger_s: float,
    out_topic: str = OUT_TOPIC,
    service_ms: float = 0.0,
    checkpoint: str = "",
) -> Any:
    """Start a query and return it; ``topics`` are separated by commas, and 0 ``trigger_s`` means
    batches back to back. ``checkpoint`` is by default in ``folder``.

    Queries of ``UPDATED`` write to the topic ``out_topic``, the others in append mode to JSON files
    in ``folder``/sink. Each input row is delayed by ``service_ms`` in its task, which represents
    work that needs no processor here. Raises BadInput if this Spark has no such operator.
    """
    from rheostat_lab.nexmark.streams import with_service_time

    sides = [
        with_service_time(read_rows(spark, bootstrap, topic), service_ms)
        for topic in topics.split(",")
    ]
    queries: dict[str, Any] = {
        "count": count,
        "session": session,
        "join": join,
        "transform": transform,
        "window": window,
        "distinct": distinct,
        "several": several,
    }
    writer = queries[name](*sides).writeStream.queryName(name)
    writer = writer.option("checkpointLocation", checkpoint or f"{folder}/checkpoint").trigger(
        processingTime=f"{trigger_s:g} seconds"
    )
    if name in UPDATED:
        kafka = (
            writer.format("kafka")
            .option("kafka.bootstrap.servers", bootstrap)
            .option("topic", out_topic)
        )
        return kafka.outputMode("update").start()
    return writer.format("json").option("path", f"{folder}/sink").outputMode("append").start()


def read_rows(spark: Any, bootstrap: str, topic: str) -> Any:
    """Return the stream of rows of a topic: key, seq, time, gap_s, payload (NULL if empty)."""
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
    )
    parts = (
        reader.option("startingOffsets", "earliest")
        .load()
        .select(sf.split(sf.col("value").cast("string"), ",").alias("part"))
    )
    return parts.selectExpr(
        "part[0] AS key",
        "CAST(part[1] AS BIGINT) AS seq",
        "timestamp_millis(CAST(part[2] AS BIGINT)) AS time",
        "CAST(part[3] AS BIGINT) AS gap_s",
        "nullif(part[4], '') AS payload",
    )


def count(rows: Any) -> Any:
    """Return the rows, the sum of their numbers and the MD5 of the value of each key, as one text
    ``key,n,total,md5``.
    """
    counted = rows.groupBy("key").agg(*_aggregates())
    return counted.select(sf.concat_ws(",", "key", "n", "total", _md5()).alias("value"))


def session(rows: Any) -> Any:
    """Return the same per session of a key, which ends ``gap_s`` after its last row."""
    gap = sf.expr("concat(CAST(gap_s AS STRING), ' seconds')")
    sessions = _timed(rows).groupBy("key", sf.session_window("time", gap).alias("session"))
    return sessions.agg(*_aggregates()).select(
        "key", sf.unix_millis("session.start").alias("start_ms"), "n", "total", _md5().alias("md5")
    )


def join(left: Any, right: Any) -> Any:
    """Return each pair of rows of one key that are at most ``JOIN_RANGE_S`` apart: key, both
    numbers, MD5 of the left value.
    """
    one, other = (_timed(side).alias(name) for side, name in ((left, "l"), (right, "r")))
    near = (
        f"l.key = r.key AND r.time BETWEEN l.time - INTERVAL {JOIN_RANGE_S} SECONDS AND l.time +"
        f" INTERVAL {JOIN_RANGE_S} SECONDS"
    )
    pairs = one.join(other, sf.expr(near), "inner")
    return pairs.selectExpr(
        "l.key AS key",
        "l.seq AS left_seq",
        "r.seq AS right_seq",
        "md5(coalesce(l.payload, '')) AS md5",
    )


def window(rows: Any) -> Any:
    """Return the rows, the sum of their numbers and the MD5 of the value of each key in each window
    of ``WINDOW_S``, with its begin.
    """
    windows = _timed(rows).groupBy("key", sf.window("time", f"{WINDOW_S} seconds").alias("window"))
    return windows.agg(*_aggregates()).select(
        "key", sf.unix_millis("window.start").alias("start_ms"), "n", "total", _md5().alias("md5")
    )


def distinct(rows: Any) -> Any:
    """Return each key once."""
    return rows.select("key").dropDuplicates(["key"])


def several(rows: Any) -> Any:
    """Return the number of seconds of each window of ``WINDOW_S`` with keys of the same two first
    characters: a deduplication, then an aggregation.
    """
    seconds = rows.select(
        sf.substring("key", 1, 2).alias("key"), sf.date_trunc("second", "time").alias("time")
    )
    once = _timed(seconds).dropDuplicates(["key", "time"])
    counted = once.groupBy("key", sf.window("time", f"{WINDOW_S} seconds").alias("window")).agg(
        sf.count("*").alias("n")
    )
    return counted.select("key", sf.unix_millis("window.start").alias("start_ms"), "n")


def transform(rows: Any) -> Any:
    """Return what ``count`` returns, with ``transformWithStateInPandas``; raises BadInput before
    Spark 4.0, which lacks it.
    """
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise BadInput(
            "the query transform needs Spark 4.0 (transformWithStateInPandas), this is"
            f" {pyspark.__version__}"
        )
    from rheostat_lab.rescale.running_totals import RunningTotals

    keyed = rows.select("key", "seq", "payload").groupBy("key")
    return keyed.transformWithStateInPandas(
        RunningTotals(), outputStructType="value STRING", outputMode="Update", timeMode="None"
    )


def _timed(rows: Any) -> Any:
    return rows.withWatermark("time", f"{WATERMARK_S} seconds")


def _aggregates() -> list[Any]:
    return [
        sf.count("*").alias("n"),
        sf.sum("seq").alias("total"),
        sf.max("payload").alias("payload"),
    ]


def _md5() -> Any:
    return sf.md5(sf.coalesce("payload", sf.lit("")))
