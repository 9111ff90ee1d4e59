"""An ``availableNow`` run on files gets the executors that process its backlog by its deadline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as sf
from tests.e2e.kubernetes_here import needs_kubernetes

import rheostat
from rheostat.config import LoopOptions
from rheostat.journal.folder import read
from rheostat.local.local_session import start_session
from rheostat.model import Limits
from rheostat_lab.clusters.cluster_kinds import local_cluster
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.spark_defaults import write_defaults
from rheostat_lab.clusters.standalone_cluster import Cluster

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


def printed(kind: str, folder: Path, program: str) -> dict[str, Any]:
    """Return what a program prints on a cluster of two slots."""
    with local_cluster(kind, cores=2) as cluster:
        options = {
            **session_options(Limits.between(1, 2), quiet=True),
            "spark.sql.shuffle.partitions": "2",
            "spark.master": cluster.url,
        }
        write_defaults(folder / "conf", {**options, **cluster.settings})
        done = subprocess.run(
            [sys.executable, "-m", program, str(folder)],
            env={
                **os.environ,
                **cluster.driver_environment(),
                "SPARK_CONF_DIR": str(folder / "conf"),
            },
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind", ["standalone", "yarn", pytest.param("kubernetes", marks=needs_kubernetes)]
)
def test_no_executor_is_kept_between_two_runs(kind: str, tmp_path: Path) -> None:
    result = printed(kind, tmp_path, "tests.e2e.two_runs_program")
    assert (result["counts"], result["ten"]) == ({"one": 4, "two": 2}, 10)
    assert "no executors between two runs (min=0)" in result["details"]
    assert any("requested for the run that begins" in detail for detail in result["details"])


@pytest.mark.thorough
def test_executors_released_between_two_batches_are_back_before_the_next(tmp_path: Path) -> None:
    result = printed("standalone", tmp_path, "tests.e2e.long_trigger_program")
    assert result["counts"] == {"one": 3, "two": 1}
    assert result["is_before"]
