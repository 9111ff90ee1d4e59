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
def test_without_a_way_in_it_is_one_line(tmp_path: Path, location: str) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "rheostat.cli", "state", "inspect", location],
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 2, asked.stderr
    said = [line for line in asked.stderr.splitlines() if line.startswith("rheostat")]
    assert len(said) == 1
    assert f"{location} cannot be read" in said[0]
    assert "Traceback" not in asked.stderr
    assert not [*tmp_path.iterdir()]


def asked(*words: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "rheostat.cli", "state", *words],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("provider", [counting.ROCKSDB, counting.HDFS])
def test_on_hdfs_forth_back_and_forth_again(
    driver: dict[str, str], hdfs: str, tmp_path: Path, provider: str
) -> None:
    checkpoint = f"{hdfs}/checkpoints/counting"
    spark = counting.session(provider, 3)
    try:
        counting.feed(tmp_path, range(3))
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        asked("repartition", checkpoint, "--partitions", "5")
        asked("undo", checkpoint)
        counting.feed(tmp_path, range(3, 4))
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        asked("repartition", checkpoint, "--partitions", "2")
        counting.feed(tmp_path, range(4, 6))
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        assert counting.output(tmp_path) == counting.expected(6)
    finally:
        spark.stop()


def test_on_hdfs_what_spark_bricks_by_a_refusal_is_cured(
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
        asked("repair", checkpoint)
        counting.run(spark, tmp_path, checkpoint=checkpoint)
        assert counting.output(tmp_path) == counting.expected(5)
    finally:
        spark.stop()
