"""A driver in a Kubernetes pod: ``spark-submit --deploy-mode cluster`` of an unchanged script under
Rheostat, scaled out and in, with its journal on a volume or on HDFS, halted from outside.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.drivers_elsewhere import (
    DEADLINE_S,
    SPARK_SUBMIT,
    UNDER_SUBMIT,
    copied,
    halt,
    hdfs_of_one_node,
    until,
)
from tests.e2e.kubernetes_here import RequestedSize, needs_kubernetes

from rheostat.journal.folder import read
from rheostat.machine.process import Child
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Rest

if TYPE_CHECKING:
    from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, needs_kubernetes]
ROWS, KEYS = 40, 13
SCRIPT = f"""
import os, sys
from pyspark.sql import SparkSession

checkpoint, folder = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
rows = (
    spark.readStream.format("rate-micro-batch").option("rowsPerBatch", {ROWS})
    .option("numPartitions", 4).option("startTimestamp", 1_700_000_000_000).load()
)
counts = rows.selectExpr("value % {KEYS} AS key").groupBy("key").count().writeStream
query = (
    counts.outputMode("update").option("checkpointLocation", checkpoint)
    .foreachBatch(lambda frame, n: frame.write.mode("overwrite").parquet(f"{{folder}}/out/{{n}}"))
    .trigger(processingTime="1 second").start()
)
while not os.path.exists(f"{{folder}}/stop"):
    query.awaitTermination(0.5)
query.stop()
spark.stop()
"""


class Job:
    """A submitted script, and the means of a user outside the cluster."""

    def __init__(
        self,
        cluster: KubernetesCluster,
        folder: Path,
        name: str,
        policy: RequestedSize,
        submit: Child,
    ) -> None:
        self.cluster, self.folder, self.name, self.submit = cluster, folder, name, submit
        self.request_size = policy.request_size

    def await_size(self, size: int) -> None:
        """Wait for executors; fail if the application ends."""
        until(
            f"{size} executors",
            lambda: not self.submit.alive or len(self.cluster.executors()) == size,
        )
        assert self.submit.alive, self.log_text()

    def log_text(self) -> str:
        """Return the end of the logs of the submission and the driver."""
        logs = [
            self.folder / "submit.log",
            *self.cluster.folder.glob(f"pods/{self.name}-*driver/log"),
        ]
        return "\n".join(log.read_text()[-4000:] for log in logs)

    def finished(self) -> list[Path]:
        """Return the output folders of the complete batches, in order."""
        folders = (mark.parent for mark in self.folder.glob("out/*/_SUCCESS"))
        return sorted(folders, key=lambda place: int(place.name))

    def batches(self) -> int:
        """Return the number of complete batches."""
        return len(self.finished())

    def work(self, batches: int = 4) -> None:
        """Wait for ``batches`` more batches."""
        wanted = self.batches() + batches
        until("more batches", lambda: not self.submit.alive or self.batches() >= wanted)
        assert self.submit.alive, self.log_text()

    def failed_tasks(self) -> int | None:
        """Return the failed tasks, by Spark's own UI in the pod."""
        label = f"labelSelector=spark-role=driver,spark-app-name={self.name}"
        path = f"/api/v1/namespaces/default/pods?{label}"
        (pod,) = self.cluster.plane.request("GET", path)["items"]
        application = pod["metadata"]["labels"]["spark-app-selector"]
        url = f"http://{pod['status']['podIP']}:4040"
        return ExecutorsEndpoint(Rest(url, application, 60.0)).failed_tasks()

    def counts(self) -> dict[int, int]:
        """Return the newest count of each key."""
        from pyarrow import parquet

        newest = {}
        for batch in self.finished():
            for row in parquet.read_table(batch).to_pylist():
                newest[row["key"]] = row["count"]
        return newest


@contextmanager
def submitted(
    cluster: KubernetesCluster,
    folder: Path,
    name: str,
    given_settings: Mapping[str, str],
    checkpoint: str,
) -> Iterator[Job]:
    """Submit the script under a name."""
    (folder / "app.py").write_text(SCRIPT)
    policy = RequestedSize(folder / "policy")
    volume = "spark.kubernetes.driver.volumes.hostPath.work"
    settings = {
        **cluster.pod_settings,
        "spark.app.name": name,
        "spark.executor.instances": "1",
        "spark.executor.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.kubernetes.driver.request.cores": "0.5",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        f"{volume}.mount.path": str(folder),
        f"{volume}.options.path": str(folder),
        "spark.kubernetes.driverEnv.PYSPARK_PYTHON": sys.executable,
        **{
            f"spark.kubernetes.driverEnv.{key}": policy.environment[key]
            for key in policy.environment
        },
        "spark.kubernetes.executorEnv.PYTHONPATH": policy.environment["PYTHONPATH"],
        "spark.pyspark.python": sys.executable,
        "spark.rheostat.policy": "told:Told",
        "spark.rheostat.limits.max": "3",
        "spark.rheostat.loop.interval_s": "1",
        "spark.rheostat.loop.cooldown_in_s": "1",
        "spark.rheostat.loop.cooldown_out_s": "1",
        **{f"spark.rheostat.{key}": text for key, text in given_settings.items()},
    }
    confs = [word for key in settings for word in ("--conf", f"{key}={settings[key]}")]
    command = [SPARK_SUBMIT, "--master", cluster.url, "--deploy-mode", "cluster", *confs]
    with Child(
        [*command, f"local://{UNDER_SUBMIT}", str(folder / "app.py"), checkpoint, str(folder)],
        log=folder / "submit.log",
        environment={**os.environ, **cluster.driver_environment()},
    ) as submit:
        yield Job(cluster, folder, name, policy, submit)


def grown_shrunk_and_halted(job: Job, checkpoint: str) -> None:
    job.await_size(1)
    job.work()
    job.request_size(3)
    job.await_size(3)
    job.work()
    job.request_size(1)
    job.await_size(1)
    job.work()
    assert job.failed_tasks() == 0
    halt(checkpoint)
    time.sleep(4)  # several ticks
    job.request_size(2)
    job.work()
    assert len(job.cluster.executors()) == 1
    (job.folder / "stop").touch()
    assert job.submit.wait(DEADLINE_S) == 0, job.log_text()
    assert "exit code: 0" in (job.folder / "submit.log").read_text()


def check(job: Job, journal: Path) -> None:
    """Compare the output with its oracle, and check the journal."""
    rows = ROWS * job.batches()
    assert job.counts() == {key: len(range(key, rows, KEYS)) for key in range(KEYS)}
    records = list(read(journal))
    assert records[-1].rescaling.phase == "halted"
    targets = [record.target for record in records if record.raw]
    assert [size for size, _ in groupby(targets)] == [1, 3, 1]
    assert (journal / "memory.json").exists()


def test_a_driver_in_a_pod_rescales_and_halts_with_a_journal_on_a_volume(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    checkpoint, journal = str(tmp_path / "checkpoint"), tmp_path / "journal"
    given_settings = {"journal": str(journal)}
    with submitted(kubernetes, tmp_path, "on-a-volume", given_settings, checkpoint) as job:
        grown_shrunk_and_halted(job, checkpoint)
        check(job, journal)


def test_a_driver_in_a_pod_stores_journal_and_checkpoint_on_hdfs(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    with hdfs_of_one_node(tmp_path) as hdfs:
        checkpoint, journal = f"{hdfs}/checkpoints/counts", f"{hdfs}/journals/counts"
        given_settings = {"journal": journal}
        with submitted(kubernetes, tmp_path, "on-hdfs", given_settings, checkpoint) as job:
            grown_shrunk_and_halted(job, checkpoint)
            check(job, copied(journal, tmp_path / "copy"))
