"""What a fleet has written, read by Structured Streaming: each record once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rheostat.errors import BadInput
from rheostat.spark.sensing.capabilities.capabilities import is_connect

HORIZON = "10 minutes"


def read_once(spark: Any, kafka: Mapping[str, Any], topic: str, horizon: str = HORIZON) -> Any:
    """Return a streaming DataFrame ``id``, ``value``, ``taken_at`` of a topic of a fleet, each id
    once.

    A record that its sender has sent again is dropped where it comes within ``horizon`` of the
    first one. The horizon is a watermark: what is read later than that behind the newest record is
    dropped, too, so it must be longer than a partition can fall behind another. Raises BadInput
    where this Spark is older than 3.5, or the session is none.
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
    """Return a client's settings as Spark's Kafka source takes them."""
    return {f"kafka.{name}": value for name, value in kafka.items()}
