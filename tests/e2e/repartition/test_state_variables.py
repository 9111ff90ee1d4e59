"""Variables of transformWithState: in Scala, with a time to live, and with a changing schema."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StatefulProcessor
from tests.e2e.repartition.left_alone import check
from tests.e2e.repartition.stateful_cases import Case, java_object, transform_with_state

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

PROVIDERS = ["snapshot", "changelog", "format-2"]
ENCODING = "spark.sql.streaming.stateStore.encodingFormat"
SOON_MS, DAY_MS = 1_000, 24 * 3600 * 1000


def in_scala(rows: DataFrame) -> DataFrame:
    """Return transformWithState of Scala, called through its Java API."""
    spark = rows.sparkSession
    kept = java_object(spark, "KeptVariables")
    sql = spark._jvm.org.apache.spark.sql
    strings = sql.Encoders.STRING()
    words = getattr(rows.selectExpr("concat(key, ' ', side)")._jdf, "as")(strings)
    mode, time_mode = sql.streaming.OutputMode.Update(), sql.streaming.TimeMode.ProcessingTime()
    keyed = words.groupByKey(kept, strings)
    given = keyed.transformWithState(kept, time_mode, mode, strings)
    return DataFrame(given.toDF(), spark)


class Expiring(StatefulProcessor):  # type: ignore[misc]
    """Variables that expire before the next start, and equal ones that last a day."""

    def init(self, handle: Any) -> None:
        self._kept = {
            name: (
                handle.getValueState(f"seen{name}", "seen long", ttl),
                handle.getListState(f"numbers{name}", "number long", ttl),
                handle.getMapState(f"sides{name}", "side string", "rows long", ttl),
            )
            for name, ttl in (("Soon", SOON_MS), ("Late", DAY_MS))
        }

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:  # noqa: N802
        frame = pd.concat(list(rows))
        output = {name: self._previous(*kept, frame) for name, kept in self._kept.items()}
        yield pd.DataFrame({"key": [key[0]], "told": [str(output)]})

    def close(self) -> None:
        pass

    def _previous(self, count: Any, numbers: Any, sides: Any, frame: pd.DataFrame) -> str:
        before = (
            count.get()[0] if count.exists() else None,
            sorted(row[0] for row in numbers.get()) if numbers.exists() else None,
            sorted((k[0], v[0]) for k, v in sides.iterator()) if sides.exists() else None,
        )
        count.update(((before[0] or 0) + len(frame),))
        numbers.appendList([(int(number),) for number in frame["number"]])
        for side, part in frame.groupby("side"):
            known = sides.getValue((side,))
            sides.updateValue((side,), ((known[0] if known else 0) + len(part),))
        return str(before)


def expiring(rows: DataFrame) -> DataFrame:
    time.sleep(1.5 * SOON_MS / 1000)  # the next start must come after the short time to live
    return rows.groupBy("key").transformWithStateInPandas(
        Expiring(), "key string, told string", "Update", "ProcessingTime"
    )


class Grown(StatefulProcessor):  # type: ignore[misc]
    """A value, a list and a map of one column, or of two."""

    def __init__(self, columns: int) -> None:
        self._schema = ("seen long", "seen long, note string")[columns - 1]
        self._columns = columns

    def init(self, handle: Any) -> None:
        self._value = handle.getValueState("value", self._schema)
        self._list = handle.getListState("list", self._schema)
        self._map = handle.getMapState("map", "side string", self._schema)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:  # noqa: N802
        frame = pd.concat(list(rows))
        value = self._value.get() if self._value.exists() else None
        output = (
            value and tuple(value),
            sorted(str(tuple(row)) for row in self._list.get()),
            sorted(str((k[0], *v)) for k, v in self._map.iterator()),
        )
        row = ((value[0] if value else 0) + len(frame), "grown")[: self._columns]
        self._value.update(row)
        self._list.appendValue(row)
        self._map.updateValue((frame["side"].min(),), row)
        yield pd.DataFrame({"key": [key[0]], "told": [str(output)]})

    def close(self) -> None:
        pass


def grown(columns: int) -> Any:
    def query(rows: DataFrame) -> DataFrame:
        return rows.groupBy("key").transformWithStateInPandas(
            Grown(columns), "key string, told string", "Update", "None"
        )

    return query


AVRO = {ENCODING: "avro"}
CASES = {
    "of Scala": Case(in_scala, "update", once=True, tells_stops=True),
    "with a time to live": Case(expiring, "update", once=True, tells_stops=True),
    "with a time to live, Avro": Case(
        expiring, "update", settings=AVRO, once=True, tells_stops=True
    ),
    "in Avro": Case(transform_with_state, "update", settings=AVRO, tells_stops=True),
    "with a column more": Case(
        grown(1), "update", settings=AVRO, later=grown(2), tells_stops=True
    ),
}  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("case", CASES)
def test_state_variables_survive_repartitions(spark, tmp_path, case, provider):
    check(spark, tmp_path, CASES[case], provider, (4, 7, 3))
