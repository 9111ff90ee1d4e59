"""A small query that needs only Spark, for tests and benchmarks that apply to any query."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery


def start_rate_query(spark: SparkSession, rows_per_s: int = 100) -> StreamingQuery:
    """Start a query from Spark's rate source through a projection and a filter to no sink, one
    batch per second.
    """
    rows = spark.readStream.format("rate").option("rowsPerSecond", rows_per_s).load()
    kept = rows.selectExpr("value * 2 AS doubled", "CAST(timestamp AS STRING) AS time").where(
        "doubled % 3 = 0"
    )
    return kept.writeStream.format("noop").trigger(processingTime="1 second").start()
