"""Several stateful operators in sequence in one query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.streaming.state import GroupStateTimeout
from tests.e2e.repartition.left_alone import check
from tests.e2e.repartition.stateful_cases import Case, Recorder, inner_join, outer_join, windows

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]


def once_then_windows_then_sessions(rows: DataFrame) -> DataFrame:
    once = rows.withWatermark("at", "20 seconds").dropDuplicatesWithinWatermark(["key", "side"])
    five = once.groupBy(sql.window("at", "5 seconds"), "key").agg(sql.max("number").alias("most"))
    session = sql.session_window(sql.window_time("window"), "12 seconds")
    return five.groupBy(session, "key").agg(sql.count("*").alias("windows"), sql.max("most"))


def remember(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    """Collect the numbers of a key until 15 s of event time pass without a row."""
    text = state.get[0] if state.exists else ""
    if state.hasTimedOut:
        state.remove()
        yield pd.DataFrame({"key": [key[0]], "told": [f"quiet after {text}"]})
        return
    latest = 0
    numbers = []
    for frame in frames:
        numbers += [int(number) for number in frame["left_number"]]
        latest = max(latest, int(frame["left_at"].max().timestamp() * 1000))
    text += f" {sorted(numbers)}"
    state.update((text,))
    state.setTimeoutTimestamp(max(latest, state.getCurrentWatermarkMs()) + 15_000)
    yield pd.DataFrame({"key": [key[0]], "told": [text]})


def joined_then_groups(rows: DataFrame) -> DataFrame:
    return (
        inner_join(rows)
        .select("left_key", "left_number", "left_at")
        .groupBy("left_key")
        .applyInPandasWithState(
            remember,
            "key string, told string",
            "seen string",
            "append",
            GroupStateTimeout.EventTimeTimeout,
        )
    )


def outer_then_windows(rows: DataFrame) -> DataFrame:
    joined = outer_join(rows).withColumn("alone", sql.col("right_key").isNull())
    return joined.groupBy(sql.window("left_at", "10 seconds"), "alone").count()


def windows_then_total(rows: DataFrame) -> DataFrame:
    """Return a query whose second operator has only its window as key."""
    keyed = windows(rows)
    window = sql.window(sql.window_time("window"), "40 seconds")
    return keyed.groupBy(window).agg(sql.sum("sum").alias("sum"), sql.count("*").alias("keys"))


def kept_then_windows(rows: DataFrame) -> DataFrame:
    timed = rows.withWatermark("at", "10 seconds")
    kept = timed.groupBy("key").transformWithStateInPandas(
        Timed(),
        "key string, at timestamp, seen long",
        "Append",
        "EventTime",
        eventTimeColumnName="at",
    )
    return kept.groupBy(sql.window("at", "20 seconds")).agg(
        sql.count("*").alias("keys"), sql.sum("seen").alias("seen")
    )


class Timed(Recorder):
    """Outputs the number of rows of a key, at the time of the newest row."""

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:  # noqa: N802
        frames = list(rows)
        for _ in super().handleInputRows(key, iter(frames), timers):
            pass
        at = max(frame["at"].max() for frame in frames)
        count = self._count.get()[0]
        yield pd.DataFrame({"key": [key[0]], "at": [at], "seen": [count]})

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        self._numbers.clear()
        yield from ()


CHAINS = {
    # After a stop the watermark catches up, so an observed key is removed from state earlier.
    "once, windows, sessions": Case(once_then_windows_then_sessions, tells_stops=True),
    "join, groups with a timeout": Case(joined_then_groups, tells_stops=True),
    "outer join, windows": Case(outer_then_windows),
    "windows, windows": Case(windows_then_total),
    "transformWithState, windows": Case(kept_then_windows, rocksdb_only=True, tells_stops=True),
}


@pytest.mark.parametrize("provider", ["hdfs", "changelog", "format-2"])
@pytest.mark.parametrize("chain", CHAINS)
def test_chained_operators_continue_after_repartitions(spark, tmp_path, chain, provider):
    if CHAINS[chain].rocksdb_only and provider == "hdfs":
        pytest.skip("Spark has this operator on RocksDB only")
    check(spark, tmp_path, CHAINS[chain], provider, (4, 7, 3), files_a_part=2)
