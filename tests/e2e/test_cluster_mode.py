"""A driver in YARN's application master: sized by Spark's configuration alone, with its journal on
HDFS, halted from outside through its checkpoint.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.e2e.drivers_elsewhere import (
    DEADLINE_S,
    SPARK_SUBMIT,
    copied,
    halt,
    hdfs_of_one_node,
    until,
)

from rheostat.journal.folder import read
from rheostat.machine.process import Child
from rheostat_lab.clusters.yarn.yarn_cluster import YarnCluster

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
SCRIPT = """
import sys
import rheostat
from pyspark.sql import SparkSession, functions as sf

spark = SparkSession.builder.getOrCreate()
handle = rheostat.attach(spark)
rows = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
counts = rows.groupBy((sf.col("value") % 7).alias("key")).count().writeStream
counts = counts.outputMode("update").format("noop").option("checkpointLocation", sys.argv[1])
query = counts.trigger(processingTime="1 second").start()
while not handle.halted:
    query.awaitTermination(0.5)
query.awaitTermination(5)  # ticks that record the halt
query.stop()
spark.stop()
"""


@pytest.fixture
def hdfs(tmp_path: Path) -> Iterator[str]:
    """An HDFS with one node."""
    with hdfs_of_one_node(tmp_path) as uri:
        yield uri


def submitted(
    cluster: YarnCluster, folder: Path, given_settings: Mapping[str, str], *own: str
) -> Child:
    """Submit a script in cluster mode, and wait for its end in a process."""
    (folder / "app.py").write_text(SCRIPT)
    settings = {
        **cluster.settings,
        "spark.decommission.enabled": "true",
        "spark.executor.instances": "1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.port": "0",
        "spark.driver.memory": "512m",
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": sys.executable,
        "spark.yarn.appMasterEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        **{f"spark.rheostat.{name}": text for name, text in given_settings.items()},
    }
    confs = [word for name in settings for word in ("--conf", f"{name}={settings[name]}")]
    command = [SPARK_SUBMIT, "--master", "yarn", "--deploy-mode", "cluster", *confs]
    return Child(
        [*command, str(folder / "app.py"), *own],
        log=folder / "submit.log",
        environment={**os.environ, **cluster.driver_environment()},
    )


def test_a_driver_in_the_application_master_is_scaled_and_halted_from_outside(
    hdfs: str, tmp_path: Path
) -> None:
    checkpoint, journal = f"{hdfs}/checkpoints/counts", f"{hdfs}/journals/counts"
    given_settings = {
        "policy": "fixed",
        "policy.executors": "2",
        "limits.max": "2",
        "loop.interval_s": "1",
        "journal": journal,
    }
    with (
        YarnCluster(cores=3) as cluster,
        submitted(cluster, tmp_path, given_settings, checkpoint) as submit,
    ):

        def ended() -> str:
            return (tmp_path / "submit.log").read_text()[-3000:]

        until("two executors", lambda: len(cluster.executors()) == 2 or not submit.alive)
        assert submit.alive, ended()
        time.sleep(5)  # several ticks with both
        halt(checkpoint)
        assert submit.wait(DEADLINE_S) == 0, ended()
        copied(journal, tmp_path / "copy")
    records = list(read(tmp_path / "copy"))
    assert {record.target for record in records if record.raw} == {2}
    assert any(record.observation and record.observation.executors == 2 for record in records)
    assert records[-1].rescaling.phase == "halted"
    assert (tmp_path / "copy" / "memory.json").exists()
