"""kill -9 during a repartition of a real Spark checkpoint: no checkpoint is lost, and Spark
continues each one as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.kills_on_spark import NEW, copied

from rheostat.protocols.repartition import CLOSED, OPEN_NEW, OPEN_OLD
from rheostat.repartition.spark_repartition import repartition
from rheostat.repartition.spark_rewriter import SparkRewriter

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]
OLD = 3
KEEP_EVERY = 15
"""Spark continues every 15th of the repaired checkpoints; the others have the same files."""


def quiet(*_: object) -> None:
    """Do nothing: every query here has ended."""


def environment() -> dict[str, str]:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "rheostat-lab" / "src")))
    return {**os.environ, "PYTHONPATH": paths}


def begun(spark: Any, folder: Path) -> None:
    """Run a query that counts three files."""
    counting.feed(folder.parent, range(3))
    counting.run(spark, folder, folder.parent / "input")


def assert_continues(spark: Any, folder: Path) -> None:
    """Count two more files with Spark, and compare the output with that of an uninterrupted run."""
    counting.feed(folder.parent, range(3, 5))
    counting.run(spark, folder, folder.parent / "input")
    assert counting.output(folder) == counting.expected(5), folder


@pytest.mark.parametrize("provider", [counting.ROCKSDB, counting.HDFS])
def test_a_kill_at_any_file_change_loses_no_checkpoint(
    driver: dict[str, str], tmp_path: Path, provider: str
) -> None:
    spark = counting.session(provider, OLD)
    try:
        begun(spark, tmp_path / "ready")
        done = copied(tmp_path / "ready", tmp_path / "done")
        repartition(
            str(done / "checkpoint"), NEW, lambda _: SparkRewriter(spark), check_stopped=quiet
        )
        command = [sys.executable, "-m", "tests.e2e.repartition.kills_on_spark"]
        killing = subprocess.run(
            [*command, str(tmp_path), str(KEEP_EVERY)],
            env=environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert killing.returncode == 0, killing.stderr
        points = [json.loads(line) for line in killing.stdout.splitlines()]
        assert len(points) >= 60
        assert {point["phase"] for point in points} >= CLOSED | OPEN_NEW | OPEN_OLD
        assert {point.get("resumed", "done") for point in points} == {"done"}
        assert {point["rolled back"] for point in points} <= {"ready", "done"}
        rolled_back = {point["phase"] for point in points if point["rolled back"] == "done"}
        assert rolled_back <= {"asked", "done"}
        kept = sorted((tmp_path / "kept").iterdir())
        assert len(kept) >= 8
        for folder in kept:
            assert_continues(spark, copied(folder, tmp_path / folder.name))
    finally:
        spark.stop()
