"""A script under ``rheostat run`` in client mode on a local cluster, started as a user does; the
counting script has an oracle.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.drivers_elsewhere import DEADLINE_S, until
from tests.e2e.kubernetes_here import RequestedSize

from rheostat.journal.folder import read
from rheostat.machine.process import Child
from rheostat.model import Limits
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.spark_defaults import write_defaults

ROWS, KEYS = 40, 13
IDLE = """
import os, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
query = rows.writeStream.format("noop").trigger(processingTime="1 second").start()
while not os.path.exists(sys.argv[1]):
    query.awaitTermination(0.5)
spark.stop()
"""
COUNTS = f"""
import os, sys
from pyspark.sql import SparkSession

folder = os.path.dirname(sys.argv[1])
spark = SparkSession.builder.getOrCreate()
conf, host = spark.sparkContext._jsc.sc().conf(), folder + "/host"
def look_here():
    if os.path.exists(host):  # where executors that come from now on look for the driver
        conf.set("spark.driver.bindAddress", open(host).read())
look_here()
spark.conf.set("spark.sql.shuffle.partitions", "4")
spark.conf.set(
    "spark.sql.streaming.stateStore.providerClass",
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
)
rows = (
    spark.readStream.format("rate-micro-batch").option("rowsPerBatch", {ROWS})
    .option("numPartitions", 4).option("startTimestamp", 1_700_000_000_000).load()
)
counts = rows.selectExpr("value % {KEYS} AS key").groupBy("key").count().writeStream
query = (
    counts.outputMode("update").option("checkpointLocation", folder + "/checkpoint")
    .foreachBatch(lambda frame, n: frame.write.mode("overwrite").parquet(f"{{folder}}/out/{{n}}"))
    .trigger(processingTime="1 second").start()
)
while not os.path.exists(sys.argv[1]):
    query.awaitTermination(0.5)
    look_here()
query.stop()
spark.stop()
"""


class Run:
    """A running script whose size is the last one passed to ``request_size``."""

    def __init__(
        self,
        folder: Path,
        cluster: Any,
        master: str,
        own: Mapping[str, str],
        script: str = IDLE,
        most: int = 2,
        size: int = 1,
        journal: str | None = None,
    ) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "app.py").write_text(script)
        policy = RequestedSize(folder / "policy", size)
        self.request_size = policy.request_size
        options = session_options(Limits(max_executors=most), initial=size, quiet=True)
        write_defaults(folder / "conf", {**options, **cluster.settings, **own})
        words = [sys.executable, "-m", "rheostat.cli", "run", "--master", master]
        words += ["--max", str(most), "--interval", "1", "--policy", "told:Told"]
        words += ["--journal", journal or str(folder / "journal"), str(folder / "app.py")]
        self.child = Child(
            [*words, "--", str(folder / "stop")],
            log=folder / "log",
            folder=folder,
            environment={
                **os.environ,
                **cluster.driver_environment(),
                "SPARK_CONF_DIR": str(folder / "conf"),
                **policy.environment,
            },
        )

    def log_text(self) -> str:
        """Return its complete log."""
        return (self.folder / "log").read_text()

    def await_line(self, line: str) -> None:
        """Wait until its log contains a line."""
        until(line, lambda: line in self.log_text() or not self.child.alive)
        assert line in self.log_text(), self.log_text()[-4000:]

    def ended(self) -> int | None:
        """Stop it, and return its exit code."""
        (self.folder / "stop").touch()
        return self.child.wait(DEADLINE_S)

    def finished(self) -> list[Path]:
        """Return the output folders of the complete batches of ``COUNTS``, in order."""
        folders = (mark.parent for mark in self.folder.glob("out/*/_SUCCESS"))
        return sorted(folders, key=lambda place: int(place.name))

    def work(self, batches: int = 4) -> None:
        """Wait for ``batches`` more batches of ``COUNTS``."""
        wanted = len(self.finished()) + batches
        until("more batches", lambda: not self.child.alive or len(self.finished()) >= wanted)
        assert self.child.alive, self.log_text()[-4000:]

    def check_counts(self) -> None:
        """Compare the complete output of ``COUNTS`` with its oracle."""
        from pyarrow import parquet

        counts = {}
        for batch in self.finished():
            for row in parquet.read_table(batch).to_pylist():
                counts[row["key"]] = row["count"]
        rows = ROWS * len(self.finished())
        assert counts == {key: len(range(key, rows, KEYS)) for key in range(KEYS)}

    def lost(self) -> list[str]:
        """Return the journal's entries about lost executors, in order."""
        parts = [part for record in self.records() for part in record.rescaling.detail.split("; ")]
        return [part for part in parts if " was lost: " in part]

    def records(self) -> list[Any]:
        """Return the records of the journal."""
        folder = self.folder / "journal"
        return list(read(folder)) if folder.exists() else []

    def sizes(self) -> list[int | None]:
        """Return the observed executors at each decision."""
        return [record.observation.executors for record in self.records() if record.observation]
