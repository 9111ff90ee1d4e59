from __future__ import annotations

import datetime as dt
import os
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from rheostat.errors import BadInput
from rheostat_lab.nexmark import nexmark_queries as queries
from rheostat_lab.nexmark import oracle
from rheostat_lab.nexmark.bids import bids, encode

pytestmark = pytest.mark.e2e

BASE_MS = 1_763_662_000_000
EVERY_MS = 50
FILES, ROWS = 4, 1000
FAR_FUTURE = dt.datetime(2100, 1, 1, tzinfo=dt.timezone.utc)


@pytest.fixture(scope="module")
def spark(local_spark: SparkSession) -> SparkSession:
    local_spark.conf.set("spark.sql.session.timeZone", "UTC")
    return local_spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bids of 200 s, in files that a stream reads one after the other."""
    folder = tmp_path_factory.mktemp("bids")
    for i in range(FILES):
        batch, file = bids(7, i * ROWS, ROWS), folder / f"{i}.parquet"
        table = oracle.bids_table(batch, [BASE_MS + n * EVERY_MS for n in batch.id.tolist()])
        pq.write_table(table, file)
        os.utime(file, (1000 + i, 1000 + i))
    return folder


def _written(result: DataFrame, folder: Path) -> str:
    result.write.parquet(str(folder / "sink"))
    return str(folder / "sink" / "*.parquet")


def _streamed(spark: SparkSession, folder: Path, work: Path) -> str:
    """Run q11 as a stream of one batch a file and return its sink."""
    schema = spark.read.parquet(str(folder)).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    writer = (
        queries.q11(stream)
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(work / "checkpoint"))
    )
    writer.trigger(availableNow=True).start(str(work / "sink")).awaitTermination()
    return str(work / "sink" / "*.parquet")


def test_q1_of_spark_is_q1_of_duckdb(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    sink = _written(queries.q1(spark.read.parquet(str(folder))), tmp_path)
    assert oracle.check_q1(f"{folder}/*.parquet", sink) == oracle.Verdict(
        expected=4000, actual=4000, missing=0, unexpected=0
    )


@pytest.mark.parametrize("gap_s", [1, 10])
def test_the_sessions_of_spark_are_those_of_duckdb(
    spark: SparkSession, folder: Path, tmp_path: Path, gap_s: int
) -> None:
    # Bids are 50 ms apart, so with a gap of 1 s many are exactly a gap apart.
    sink = _written(queries.q11(spark.read.parquet(str(folder)), gap_s=gap_s), tmp_path)
    all_sessions = oracle.q11(f"{folder}/*.parquet", gap_s)
    verdict = oracle.check_q11(f"{folder}/*.parquet", sink, gap_s, watermark=FAR_FUTURE)
    assert verdict.exact
    assert verdict.expected == all_sessions.num_rows > 100


def test_a_stream_gives_the_closed_sessions_and_only_those(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    verdict = oracle.check_q11(f"{folder}/*.parquet", _streamed(spark, folder, tmp_path))
    assert verdict.exact
    assert 0 < verdict.expected < oracle.q11(f"{folder}/*.parquet").num_rows


def test_records_of_the_producer_are_parsed_with_their_place_in_the_topic(
    spark: SparkSession,
) -> None:
    batch = bids(7, 0, 3)
    records = [
        (line.decode(), n % 2, n // 2, BASE_MS) for n, line in enumerate(encode(batch, BASE_MS + 5))
    ]
    frame = spark.createDataFrame(
        records, "value STRING, partition INT, offset BIGINT, timestamp BIGINT"
    )
    frame = frame.selectExpr(
        "CAST(value AS BINARY) AS value",
        "partition",
        "offset",
        "timestamp_millis(timestamp) AS timestamp",
    )
    rows = (
        queries.parse_bids(frame)
        .selectExpr("*", "unix_millis(date_time) AS ms")
        .orderBy("id")
        .collect()
    )
    assert [(row["id"], row["auction"], row["price"], row["ms"]) for row in rows] == [
        (n, int(batch.auction[n]), int(batch.price[n]), BASE_MS + 5) for n in range(3)
    ]
    assert [(row["url"], row["extra"]) for row in rows] == list(
        zip(batch.urls(), batch.extras(), strict=True)
    )
    assert [(row["partition"], row["offset"]) for row in rows] == [(0, 0), (1, 0), (0, 1)]


def test_a_service_time_is_waited_once_for_each_row_without_python(spark: SparkSession) -> None:
    served = queries.with_service_time(spark.range(0, 200, 1, 1), 5.0).where("id >= 0")
    plan = served._jdf.queryExecution().executedPlan().toString()
    assert plan.count("java_method") == 1
    assert "Python" not in plan
    begin = time.monotonic()
    assert sorted(row["id"] for row in served.collect()) == list(range(200))
    assert time.monotonic() - begin >= 0.95  # a wait may be longer under load, never shorter


def test_q1_behind_a_service_time_is_still_exact(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    served = queries.q1(queries.with_service_time(spark.read.parquet(str(folder)), 0.05))
    assert oracle.check_q1(f"{folder}/*.parquet", _written(served, tmp_path)).exact


def test_no_service_time_adds_nothing_and_a_negative_one_is_refused(spark: SparkSession) -> None:
    frame = spark.range(1)
    assert queries.with_service_time(frame, 0) is frame
    with pytest.raises(BadInput, match="service_ms must be at least 0, but it is -1"):
        queries.with_service_time(frame, -1)
