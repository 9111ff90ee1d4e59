"""Stateful queries on files, one of every kind of state, and their output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout

from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import Gateway

SCHEMA = "key string, number long, at timestamp, side string"
START = datetime(2026, 1, 1)
ROWS, KEYS = 120, 37


def write_file(folder: Path, number: int) -> None:
    """Write the rows of a batch: keys repeat, times rise."""
    rows = [
        {
            "key": f"key-{(number * 31 + i * 7) % KEYS}",
            "number": number * ROWS + i,
            "at": START + timedelta(seconds=number * 40 + i % 40),
            "side": "left" if i % 2 else "right",
        }
        for i in range(ROWS)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).astype({"at": "datetime64[us]"}).to_parquet(
        folder / f"{number:03}.parquet", index=False
    )


def source(spark: SparkSession, folder: Path) -> DataFrame:
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return stream.parquet(str(folder))


def count(rows: DataFrame) -> DataFrame:
    return rows.groupBy("key").count()


def distinct(rows: DataFrame) -> DataFrame:
    kept = sql.sort_array(sql.collect_set("number"))
    return rows.groupBy("key", sql.col("number") % 3).agg(kept.alias("numbers"))


def windows(rows: DataFrame) -> DataFrame:
    late = rows.withWatermark("at", "30 seconds")
    return late.groupBy(sql.window("at", "20 seconds"), "key").agg(sql.sum("number").alias("sum"))


def sessions(rows: DataFrame) -> DataFrame:
    late = rows.withWatermark("at", "10 seconds")
    return late.groupBy(sql.session_window("at", "8 seconds"), "key").count()


def duplicates(rows: DataFrame) -> DataFrame:
    return rows.select("key", (sql.col("number") % 50).alias("rest")).dropDuplicates(
        ["key", "rest"]
    )


def duplicates_within(rows: DataFrame) -> DataFrame:
    late = rows.withWatermark("at", "60 seconds")
    return late.dropDuplicatesWithinWatermark(["key"]).select("key")


def sides(rows: DataFrame) -> tuple[DataFrame, DataFrame]:
    left = rows.where("side = 'left'").withWatermark("at", "20 seconds")
    right = rows.where("side = 'right'").withWatermark("at", "20 seconds")
    return (
        left.selectExpr("key as left_key", "number as left_number", "at as left_at"),
        right.selectExpr("key as right_key", "number as right_number", "at as right_at"),
    )


WITHIN = "left_key = right_key and right_at >= left_at and right_at <= left_at + interval 5 seconds"


def inner_join(rows: DataFrame) -> DataFrame:
    left, right = sides(rows)
    return left.join(right, sql.expr(WITHIN))


def outer_join(rows: DataFrame) -> DataFrame:
    left, right = sides(rows)
    return left.join(right, sql.expr(WITHIN), "leftOuter")


def join_and_windows(rows: DataFrame) -> DataFrame:
    joined = inner_join(rows)
    return joined.groupBy(sql.window("left_at", "20 seconds"), "left_key").count()


def total(rows: DataFrame) -> DataFrame:
    return rows.groupBy().agg(sql.count("*").alias("rows"), sql.sum("number").alias("sum"))


def pandas_with_state(rows: DataFrame) -> DataFrame:
    def add(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        count = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
        state.update((count,))
        yield pd.DataFrame({"key": [key[0]], "seen": [count]})

    return rows.groupBy("key").applyInPandasWithState(
        add, "key string, seen long", "seen long", "update", GroupStateTimeout.NoTimeout
    )


class Recorder(StatefulProcessor):  # type: ignore[misc]
    """A value, a list, a map and timers of one key."""

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._count = handle.getValueState("seen", "seen long")
        self._numbers = handle.getListState("numbers", "number long")
        self._sides = handle.getMapState("sides", "side string", "rows long")

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:  # noqa: N802
        for frame in rows:
            count = (self._count.get()[0] if self._count.exists() else 0) + len(frame)
            self._count.update((count,))
            self._numbers.appendList([(int(number),) for number in frame["number"]])
            for side, part in frame.groupby("side"):
                known = self._sides.getValue((side,))
                self._sides.updateValue((side,), ((known[0] if known else 0) + len(part),))
            at = int(frame["at"].max().timestamp() * 1000) + 15_000
            self._handle.registerTimer(at)
        yield self._shown(key, "rows")

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        yield self._shown(key, f"timer {expiredTimerInfo.getExpiryTimeInMs()}")

    def close(self) -> None:
        pass

    def _shown(self, key: Any, why: str) -> pd.DataFrame:
        numbers = [row[0] for row in self._numbers.get()]
        sides = sorted((k[0], v[0]) for k, v in self._sides.iterator())
        shown = f"{why} {self._count.get()} {sorted(numbers)} {sides}"
        return pd.DataFrame({"key": [key[0]], "shown": [shown]})


def transform_with_state(rows: DataFrame) -> DataFrame:
    late = rows.withWatermark("at", "10 seconds")
    return late.groupBy("key").transformWithStateInPandas(
        Recorder(), "key string, shown string", "Update", "EventTime"
    )


def java_object(spark: SparkSession, name: str) -> Any:
    """Compile a class in this folder, send it to the executors, and return an instance."""
    gateway = Gateway(spark)
    classes = CompiledClasses(gateway)
    compiled, codes = classes._compile(Path(__file__).with_name(f"{name}.java"))
    classes._send(codes)
    nothing = gateway.array(gateway.jvm.java.lang.Object, ())
    return compiled.getConstructors()[0].newInstance(nothing)


def groups_with_state(rows: DataFrame) -> DataFrame:
    """Return flatMapGroupsWithState of Scala, called through its Java API."""
    spark = rows.sparkSession
    class_of_state = java_object(spark, "SeenState")
    java = spark._jvm
    sql_, encoders = java.org.apache.spark.sql, java.org.apache.spark.sql.Encoders
    given = (
        rows.select("key")
        ._jdf.groupByKey(class_of_state, encoders.STRING())
        .flatMapGroupsWithState(
            class_of_state,
            sql_.streaming.OutputMode.Update(),
            encoders.LONG(),
            encoders.STRING(),
            sql_.streaming.GroupStateTimeout.NoTimeout(),
        )
    )
    return DataFrame(given.toDF(), spark)


@dataclass(frozen=True, slots=True)
class Case:
    """A stateful query and its output mode; ``settings`` are needed in addition to Spark's
    defaults.

    ``later`` is the query after its first stop, if it changes then. ``rocksdb_only`` is an operator
    that Spark supports only on RocksDB. ``tells_stops``: timers output their state when they fire,
    and after a stop the watermark catches up, so that they fire earlier than without a stop; the
    reference run then stops at the same points. ``once``: with processing time there is always
    another batch, so the query runs one batch per start.
    """

    query: Callable[[DataFrame], DataFrame]
    mode: str = "append"
    settings: Mapping[str, str] = field(default_factory=dict)
    later: Callable[[DataFrame], DataFrame] | None = None
    rocksdb_only: bool = False
    tells_stops: bool = False
    once: bool = False


JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"
CASES: dict[str, Case] = {
    "count": Case(count, "update"),
    "distinct": Case(distinct, "complete"),
    "windows": Case(windows),
    "sessions": Case(sessions),
    "duplicates": Case(duplicates),
    "duplicates-within": Case(duplicates_within),
    "inner-join": Case(inner_join),
    "outer-join": Case(outer_join),
    "join-and-windows": Case(join_and_windows),
    "total": Case(total, "update"),
    "groups-with-state": Case(groups_with_state, "update"),
    "outer-join-3": Case(outer_join, settings={JOIN_FORMAT: "3"}, rocksdb_only=True),
    "outer-join-4": Case(outer_join, settings={JOIN_FORMAT: "4"}, rocksdb_only=True),
    "pandas-with-state": Case(pandas_with_state, "update"),
    "transform-with-state": Case(
        transform_with_state, "update", rocksdb_only=True, tells_stops=True
    ),
}


def run(spark: SparkSession, case: Case, files: Path, checkpoint: Path, part: int = 0) -> list[Row]:
    """Run a query over the existing files, and return its output."""
    query = case.later if case.later and part else case.query
    # The workers cannot import these modules.
    for module in {query.__module__, __name__}:
        register_pickle_by_value(sys.modules[module])
    given: list[Row] = []
    writer = query(source(spark, files)).writeStream.outputMode(case.mode)
    trigger = {"once": True} if case.once else {"availableNow": True}
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(**trigger)
    running = writer.foreachBatch(lambda frame, _: given.extend(frame.collect())).start()
    running.awaitTermination()
    return given
