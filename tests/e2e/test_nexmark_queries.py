"""The benchmark's queries on Spark, as streams and in batch, compared with DuckDB."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from rheostat.errors import BadInput
from rheostat_lab.demo.query_check import check, read_events, write_events
from rheostat_lab.demo.verdict import judge
from rheostat_lab.nexmark.encoding import encode, to_table
from rheostat_lab.nexmark.events import KINDS, events
from rheostat_lab.nexmark.queries import QUERIES, find_query
from rheostat_lab.nexmark.streams import parse_events, with_service_time

pytestmark = pytest.mark.e2e

EVENTS = 150_000
"""15 seconds at the reference rate: several windows of each query."""
CREATED_MS = 1_763_662_000_123


@pytest.fixture(scope="module")
def spark(local_spark: SparkSession) -> SparkSession:
    local_spark.conf.set("spark.sql.session.timeZone", "UTC")
    local_spark.conf.set("spark.sql.shuffle.partitions", "2")
    return local_spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    write_events(folder, 7, EVENTS)
    return folder


def arrow_table(frame: DataFrame) -> pa.Table:
    """Return all rows; ``toArrow`` exists since Spark 4.0."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    return pa.Table.from_batches(frame._collect_as_arrow())


@pytest.mark.parametrize("name", QUERIES)
def test_a_stream_matches_its_batch_oracle(
    spark: SparkSession, folder: Path, tmp_path: Path, name: str
) -> None:
    verdict, _ = check(spark, name, folder, tmp_path)
    assert verdict.exact, verdict.detail
    assert verdict.rows_out > 0


@pytest.mark.parametrize("kind", KINDS)
def test_producer_records_are_parsed_unchanged(spark: SparkSession, kind: str) -> None:
    batch = events(kind, 7, 0, 3)
    records = [(line.decode(),) for line in encode(batch, CREATED_MS)]
    parsed = parse_events(spark.createDataFrame(records, "value STRING"), kind)
    made = to_table(batch, CREATED_MS)
    for name in made.column_names:
        column = arrow_table(parsed).column(name).cast(made.schema.field(name).type)
        assert column.to_pylist() == made.column(name).to_pylist()


def test_the_service_time_applies_once_per_row_without_python(spark: SparkSession) -> None:
    served = with_service_time(spark.range(0, 200, 1, 1), 5.0).where("id >= 0")
    plan = served._jdf.queryExecution().executedPlan().toString()
    assert plan.count("java_method") == 1
    assert "Python" not in plan
    begin = time.monotonic()
    assert sorted(row["id"] for row in served.collect()) == list(range(200))
    assert time.monotonic() - begin >= 0.95  # under load a wait may be longer, but never shorter


def test_q1_with_a_service_time_is_exact(spark: SparkSession, folder: Path) -> None:
    bids = spark.read.parquet(str(folder / "bids"))
    served = arrow_table(find_query("q1").frame({"bids": with_service_time(bids, 0.05)}))
    assert judge("q1", read_events(folder, ("bids",)), served).exact


def test_a_service_time_of_zero_changes_nothing_and_a_negative_one_is_rejected(
    spark: SparkSession,
) -> None:
    frame = spark.range(1)
    assert with_service_time(frame, 0) is frame
    with pytest.raises(BadInput, match="service_ms must be at least 0, but it is -1"):
        with_service_time(frame, -1)
