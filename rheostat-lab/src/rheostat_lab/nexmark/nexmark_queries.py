"""Nexmark queries in PySpark Structured Streaming, from Kafka; they run as batch queries on a batch
DataFrame too.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from rheostat.errors import BadInput

BID_SCHEMA = (
    "id BIGINT, auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, date_time"
    " BIGINT, extra STRING"
)


def read_bids(
    spark: SparkSession,
    bootstrap: str,
    topic: str,
    starting: str = "earliest",
    max_rows_per_trigger: int | None = None,
) -> DataFrame:
    """Return the stream of bids of a topic (columns as in ``parse_bids``), at most
    ``max_rows_per_trigger`` rows a batch (default: all).
    """
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
    )
    reader = reader.option("startingOffsets", starting)
    if max_rows_per_trigger is not None:
        reader = reader.option("maxOffsetsPerTrigger", max_rows_per_trigger)
    return parse_bids(reader.load())


def parse_bids(records: DataFrame) -> DataFrame:
    """Return bids from Kafka records: their columns (``date_time`` a timestamp), then the record's
    partition, offset and timestamp.
    """
    parsed = records.select(
        sf.from_json(sf.col("value").cast("string"), BID_SCHEMA).alias("bid"),
        "partition",
        "offset",
        "timestamp",
    )
    return parsed.select("bid.*", "partition", "offset", "timestamp").withColumn(
        "date_time", sf.expr("timestamp_millis(date_time)")
    )


def q1(bids: DataFrame) -> DataFrame:
    """Return every bid with its price in euros (0.908 of the dollars, DECIMAL(23, 3)): id, auction,
    bidder, price, date_time, extra.
    """
    euros = sf.expr("CAST(CAST(price AS DECIMAL(20, 0)) * 0.908BD AS DECIMAL(23, 3))").alias(
        "price"
    )
    return bids.select("id", "auction", "bidder", euros, "date_time", "extra")


def q11(bids: DataFrame, gap_s: int = 10, watermark_s: int = 4) -> DataFrame:
    """Return the bids of each session of a bidder: bidder, bid_count, start_time, end_time; as a
    stream in append mode.

    A session ends ``gap_s`` seconds after its last bid (end_time = last bid + gap); two bids
    exactly ``gap_s`` apart are one session, as Spark's ``session_window`` has it. A stream gives a
    session once its end_time is at or below the watermark (the latest bid of the batches before,
    minus ``watermark_s``).
    """
    session = sf.session_window("date_time", f"{gap_s} seconds").alias("session")
    counts = (
        bids.withWatermark("date_time", f"{watermark_s} seconds")
        .groupBy("bidder", session)
        .agg(sf.count("*").alias("bid_count"))
    )
    return counts.selectExpr(
        "bidder", "bid_count", "session.start AS start_time", "session.end AS end_time"
    )


def with_service_time(df: DataFrame, service_ms: float) -> DataFrame:
    """Return the same rows, each after a wait of ``service_ms`` in its task, which stands for a
    call to an outside system; 0 adds nothing.

    So one slot serves about 1000 / ``service_ms`` rows per second and needs next to no CPU. The
    wait is a static JVM method in a filter that is always true: no Python worker. Spark holds it
    for nondeterministic (``CallMethodViaReflection``), so it is neither dropped nor run twice nor
    moved below another filter; it may move below projections, such as the parsing. Raises BadInput
    below 0. Fails when: waits are so short (under 0.2 ms) that the timer's own 0.1 ms counts.
    """
    if not service_ms >= 0:
        raise BadInput(f"service_ms must be at least 0, but it is {service_ms}")
    if service_ms == 0:
        return df
    wait = (
        "java_method('java.util.concurrent.locks.LockSupport', 'parkNanos',"
        f" {round(service_ms * 1e6)}L)"
    )
    # The method returns nothing, which Spark shows as 'null'; were it a real NULL one day, the rows
    # would still pass.
    return df.where(sf.expr(f"coalesce({wait}, 'null') = 'null'"))
