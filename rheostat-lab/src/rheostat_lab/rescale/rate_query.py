"""A small query that needs nothing but Spark: for tests and benchmarks of what any query does."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery


def start_rate_query(spark: SparkSession, rows_per_s: int = 100) -> StreamingQuery:
    """Start a query of Spark's rate source through a projection and a filter into nowhere, one
    batch a second.
    """
    rows = spark.readStream.format("rate").option("rowsPerSecond", rows_per_s).load()
    kept = rows.selectExpr("value * 2 AS doubled", "CAST(timestamp AS STRING) AS time").where(
        "doubled % 3 = 0"
    )
    return kept.writeStream.format("noop").trigger(processingTime="1 second").start()
