"""Reads the topic of a fleet with Structured Streaming, each record once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rheostat.errors import BadInput
from rheostat.spark.sensing.capabilities.capabilities import is_connect

HORIZON = "10 minutes"


def read_once(spark: Any, kafka: Mapping[str, Any], topic: str, horizon: str = HORIZON) -> Any:
    """Return a streaming DataFrame ``id``, ``value``, ``taken_at`` of a fleet's topic, each id
    once.

    A repeated record is dropped if it arrives within ``horizon`` of the first one. The horizon is a
    watermark: records that are read later than that behind the newest one are dropped as well, so
    it must exceed the lag of one partition behind another. Raises BadInput if this Spark is older
    than 3.5, or if ``spark`` is not a session.
    """
    rows = _reader(spark, kafka, topic).selectExpr(
        "CAST(key AS STRING) AS id", "CAST(value AS STRING) AS value", "timestamp AS taken_at"
    )
    if not hasattr(rows, "dropDuplicatesWithinWatermark"):
        raise BadInput("reading each record once needs Spark 3.5 or later")
    return rows.withWatermark("taken_at", horizon).dropDuplicatesWithinWatermark(["id"])


def _reader(spark: Any, kafka: Mapping[str, Any], topic: str) -> Any:
    if "readStream" not in dir(spark) and not is_connect(spark):
        raise BadInput(f"a SparkSession is needed, but it is {spark!r:.80}")
    reader = spark.readStream.format("kafka").option("subscribe", topic)
    for name, value in {"startingOffsets": "earliest", **_prefixed(kafka)}.items():
        reader = reader.option(name, str(value))
    return reader.load()


def _prefixed(kafka: Mapping[str, Any]) -> dict[str, Any]:
    """Return a client's settings with the prefix that Spark's Kafka source requires."""
    return {f"kafka.{name}": value for name, value in kafka.items()}
