"""A real Spark checkpoint is repartitioned, rolled back, and repaired after Spark's own runner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.repartition import counting_query as counting

from rheostat.repartition.checkpoint import Checkpoint
from rheostat.repartition.repair import repair
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.repartition.state_engine import Rewriter

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]


def quiet(*_: object) -> None:
    """Do nothing: every query here has ended."""


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rheostat.repartition.repair.require_stopped", quiet)


@pytest.mark.parametrize("provider", [counting.ROCKSDB, counting.HDFS])
def test_repartitions_and_a_rollback_do_not_change_the_output(
    driver: dict[str, str], tmp_path: Path, provider: str
) -> None:
    spark = counting.session(provider, 4)

    def engine(_: Checkpoint) -> Rewriter:
        return SparkRewriter(spark)

    checkpoint = str(tmp_path / "checkpoint")
    try:
        counting.feed(tmp_path, range(3))
        counting.run(spark, tmp_path)
        assert repartition(checkpoint, 7, engine, check_stopped=quiet).phase == "done"
        assert undo(checkpoint, check_stopped=quiet).phase == "ended"
        counting.feed(tmp_path, range(3, 5))
        counting.run(spark, tmp_path)
        assert repartition(checkpoint, 7, engine, check_stopped=quiet).phase == "done"
        counting.feed(tmp_path, range(5, 7))
        counting.run(spark, tmp_path)
        assert repartition(checkpoint, 2, engine, check_stopped=quiet).phase == "done"
        counting.feed(tmp_path, range(7, 9))
        counting.run(spark, tmp_path)
        assert counting.output(tmp_path) == counting.expected(9)
    finally:
        spark.stop()


def test_a_checkpoint_blocked_by_a_rejected_spark_repartition_is_repaired(
    driver: dict[str, str], tmp_path: Path
) -> None:
    spark = counting.session(counting.HDFS, 4)
    try:
        counting.feed(tmp_path, range(3))
        counting.run(spark, tmp_path)
        with pytest.raises(Exception, match="UNSUPPORTED_PROVIDER"):
            spark._streamingCheckpointManager.repartition(str(tmp_path / "checkpoint"), 7)
        counting.feed(tmp_path, range(3, 5))
        with pytest.raises(Exception, match="UNFINISHED_REPARTITION"):
            counting.run(spark, tmp_path)
        assert repair(str(tmp_path / "checkpoint")).partitions == 4
        counting.run(spark, tmp_path)
        assert counting.output(tmp_path) == counting.expected(5)
    finally:
        spark.stop()


@pytest.mark.parametrize("exactly_once", [True, False])
def test_a_checkpoint_blocked_by_a_killed_spark_repartition_is_repaired(
    driver: dict[str, str], tmp_path: Path, exactly_once: bool
) -> None:
    checkpoint = tmp_path / "checkpoint"
    spark = counting.session(counting.ROCKSDB, 4)
    counting.feed(tmp_path, range(3))
    try:
        counting.run(spark, tmp_path)
    finally:
        spark.stop()
    if not exactly_once:  # the newest batch is not committed, as after a stop during a batch
        (checkpoint / "commits" / "2").unlink()
        (checkpoint / "commits" / ".2.crc").unlink(missing_ok=True)
        (tmp_path / "sink" / "002").unlink()
    _kill_during_repartition(tmp_path, exactly_once)
    spark = counting.session(counting.ROCKSDB, 4)
    try:
        counting.feed(tmp_path, range(3, 5))
        with pytest.raises(Exception, match="UNFINISHED_REPARTITION"):
            counting.run(spark, tmp_path)
        assert repair(str(checkpoint)).partitions == 4
        counting.run(spark, tmp_path)
        assert counting.output(tmp_path) == counting.expected(5)
    finally:
        spark.stop()


def _kill_during_repartition(folder: Path, exactly_once: bool) -> None:
    """Start Spark's runner, and kill it and its JVM when its batch is in the offset log."""
    how = "exactly-once" if exactly_once else "skip"
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.repartition.counting_query", str(folder), "60", how],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    lock = folder / "checkpoint" / "offsets" / "3"
    while not lock.exists() and child.poll() is None:
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert lock.exists()
    assert not (folder / "checkpoint" / "commits" / "3").exists()
