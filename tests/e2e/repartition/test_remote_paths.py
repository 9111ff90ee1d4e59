"""A remote checkpoint: on HDFS it is repartitioned; an unreadable one gives one line with the
reason and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.test_kills_on_spark import environment
from tests.e2e.test_cluster_mode import hdfs

__all__ = ["hdfs"]

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("location", ["s3a://bucket/orders", "hdfs://nowhere.invalid:1/orders"])
def test_an_unreachable_location_is_reported_in_one_line(tmp_path: Path, location: str) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "rheostat.cli", "state", "inspect", location],
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 2, process.stderr
    lines = [line for line in process.stderr.splitlines() if line.startswith("rheostat")]
    assert len(lines) == 1
    assert f"{location} cannot be read" in lines[0]
    assert "Traceback" not in process.stderr
    assert not [*tmp_path.iterdir()]


def run_state_command(*words: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "rheostat.cli", "state", *words],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("provider", [counting.ROCKSDB, counting.HDFS])
def test_repartitions_and_a_rollback_on_hdfs_do_not_change_the_output(
    driver: dict[str, str], hdfs: str, tmp_path: Path, provider: str
) -> None:
    checkpoint = f"{hdfs}/checkpoints/counting"
    spark = counting.session(provider, 3)
    try:
        counting.feed(tmp_path, range(3))
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        run_state_command("repartition", checkpoint, "--partitions", "5")
        run_state_command("undo", checkpoint)
        counting.feed(tmp_path, range(3, 4))
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        run_state_command("repartition", checkpoint, "--partitions", "2")
        counting.feed(tmp_path, range(4, 6))
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        assert counting.output(tmp_path) == counting.expected(6)
    finally:
        spark.stop()


def test_a_checkpoint_blocked_on_hdfs_is_repaired(
    driver: dict[str, str], hdfs: str, tmp_path: Path
) -> None:
    checkpoint = f"{hdfs}/checkpoints/broken"
    spark = counting.session(counting.HDFS, 3)
    try:
        counting.feed(tmp_path, range(3))
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        with pytest.raises(Exception, match="UNSUPPORTED_PROVIDER"):
            spark._streamingCheckpointManager.repartition(checkpoint, 5)
        counting.feed(tmp_path, range(3, 5))
        with pytest.raises(Exception, match="UNFINISHED_REPARTITION"):
            counting.run(spark, tmp_path, checkpoint=checkpoint)
        run_state_command("repair", checkpoint)
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        assert counting.output(tmp_path) == counting.expected(5)
    finally:
        spark.stop()
