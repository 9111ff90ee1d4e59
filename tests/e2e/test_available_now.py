"""An ``availableNow`` run on files gets the executors that process its backlog by its deadline."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from tests.e2e.drivers_elsewhere import until

import rheostat
from rheostat.config import LoopOptions
from rheostat.journal.folder import read
from rheostat.local.executor_options import session_options
from rheostat.local.local_session import start_session
from rheostat.local.standalone_cluster import Cluster
from rheostat.model import Limits
from rheostat.protocols import release

pytestmark = pytest.mark.e2e
FILES, ROWS = 60, 50
ROW_S = 0.01


def test_a_run_scales_out_for_its_deadline_and_reads_every_row(
    cluster: Cluster, driver: dict[str, str], tmp_path: Path
) -> None:
    def slow(value):  # untyped: Spark would read the annotations
        time.sleep(ROW_S)
        return value.upper()

    source, sink = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    rows = {f"file {file} row {row}" for file in range(FILES) for row in range(ROWS)}
    for file in range(FILES):
        lines = [f"file {file} row {row}" for row in range(ROWS)]
        (source / f"{file}.txt").write_text("\n".join(lines))
    spark = start_session(cluster.url, session_options(Limits.between(1, 3)), "available now")
    spark.sparkContext.setLogLevel("OFF")
    try:
        handle = rheostat.attach(
            spark,
            policy="deadline",
            # One executor needs FILES x ROWS x ROW_S = 30 s and the fixed cost of 30 batches.
            parameters={"within_s": 20.0},
            limits=(1, 3),
            journal=tmp_path / "journal",
            loop=LoopOptions(interval_s=1.0),
        )
        lines = spark.readStream.option("maxFilesPerTrigger", 2).text(str(source))
        query: Any = (
            lines.select(sf.udf(slow)("value").alias("value"))
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(sink))
        )
        query.awaitTermination()
        handle.stop()
        written = [row.value for row in spark.read.parquet(str(sink)).collect()]
    finally:
        spark.stop()
    assert sorted(written) == sorted(row.upper() for row in rows)
    decisions = [record.raw for record in read(tmp_path / "journal") if record.raw]
    assert max(decision.target for decision in decisions) > 1
    assert any("needed to process" in decision.reason for decision in decisions)


def run_once(spark: SparkSession, folder: Path) -> None:
    """Read the new files of a folder and count the rows of each word."""
    query: Any = (
        spark.readStream.text(str(folder / "in"))
        .groupBy("value")
        .count()
        .writeStream.outputMode("complete")
        .foreachBatch(
            lambda rows, _: rows.coalesce(1).write.mode("overwrite").json(f"{folder}/out")
        )
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


@pytest.mark.thorough
def test_no_executor_is_kept_between_two_runs(
    cluster: Cluster, driver: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "SETTLE_S", 2.0)
    (tmp_path / "in").mkdir()
    options = {**session_options(Limits.between(1, 2)), "spark.sql.shuffle.partitions": "2"}
    spark = start_session(cluster.url, options, "between runs")
    spark.sparkContext.setLogLevel("OFF")
    try:
        handle = rheostat.attach(
            spark,
            policy="deadline",
            limits=(0, 2),
            journal=tmp_path / "journal",
            loop=LoopOptions(interval_s=1.0),
        )
        for run in range(2):
            (tmp_path / "in" / f"{run}.txt").write_text("one\ntwo\none\n")
            run_once(spark, tmp_path)
            until("all executors are released", lambda: not cluster.executors())
        # A job of the session that is no query's gets an executor, too.
        counts = {row.value: row["count"] for row in spark.read.json(f"{tmp_path}/out").collect()}
        handle.stop()
        assert spark.range(10).count() == 10
    finally:
        spark.stop()
    assert counts == {"one": 4, "two": 2}
    details = [record.rescaling.detail for record in read(tmp_path / "journal")]
    assert "no executors between two runs (min=0)" in details
    assert any("requested for the run that begins" in detail for detail in details)
