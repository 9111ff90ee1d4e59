"""Events as PySpark DataFrames: from Kafka topics or from files, as streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rheostat.errors import BadInput
from rheostat_lab.nexmark.encoding import TIMES, columns
from rheostat_lab.nexmark.landing import landing_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def topic_streams(
    spark: SparkSession, bootstrap: str, topics: Mapping[str, str]
) -> dict[str, DataFrame]:
    """Return the streams of topics of a broker or of a landing, by the kind of their events."""
    if landing := landing_of(bootstrap):
        streams = {kind: landing.stream(spark, topic) for kind, topic in topics.items()}
        if landing.kind == "delta":
            return streams
        return {kind: parse_events(stream, kind) for kind, stream in streams.items()}
    return {
        kind: parse_events(
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", bootstrap)
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .load(),
            kind,
        )
        for kind, topic in topics.items()
    }


def file_streams(
    spark: SparkSession, folder: Path, kinds: tuple[str, ...], files_per_trigger: int = 1
) -> dict[str, DataFrame]:
    """Return the streams of the Parquet files ``folder``/KIND, in the order of their times."""
    return {
        kind: spark.readStream.schema(spark.read.parquet(f"{folder}/{kind}").schema)
        .option("maxFilesPerTrigger", files_per_trigger)
        .parquet(f"{folder}/{kind}")
        for kind in kinds
    }


def parse_events(records: DataFrame, kind: str = "bids") -> DataFrame:
    """Return events from the column ``value`` of records; times are timestamps."""
    from pyspark.sql import functions as sf

    schema = ", ".join(f"{name} {type_}" for name, type_ in columns(kind).items())
    parsed = records.select(sf.from_json(sf.col("value").cast("string"), schema).alias("event"))
    return parsed.select("event.*").withColumns(
        {name: sf.expr(f"timestamp_millis({name})") for name in TIMES if name in columns(kind)}
    )


def with_service_time(df: DataFrame, service_ms: float) -> DataFrame:
    """Return the same rows, each delayed by ``service_ms`` in its task, which represents a call to
    an external system; 0 adds nothing.

    One slot therefore serves about 1000 / ``service_ms`` rows per second with almost no CPU. The
    delay is a static JVM method in a filter that is always true, without a Python worker. Spark
    treats it as nondeterministic (``CallMethodViaReflection``), so it is neither dropped nor run
    twice nor moved below another filter; it may move below projections, such as the parsing. Raises
    BadInput below 0. Fails when delays are so short (under 0.2 ms) that the timer's own 0.1 ms
    counts.
    """
    from pyspark.sql import functions as sf

    if not service_ms >= 0:
        raise BadInput(f"service_ms must be at least 0, but it is {service_ms}")
    if service_ms == 0:
        return df
    wait = (
        "java_method('java.util.concurrent.locks.LockSupport', 'parkNanos',"
        f" {round(service_ms * 1e6)}L)"
    )
    # The method returns nothing, which Spark shows as 'null'; coalesce also lets the rows pass if
    # it becomes a real NULL.
    return df.where(sf.expr(f"coalesce({wait}, 'null') = 'null'"))
