"""A Kafka job in separate processes that can be killed at any moment. Every row takes the same
time, so that its capacity is known, and its output can be compared with its input.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from confluent_kafka import Producer

from rheostat.kafka.checkpoint_offsets import committed_offsets
from rheostat.kafka.jars import source_jars
from rheostat.kafka.offsets import Offsets
from rheostat.local.executor_options import EXECUTOR_FLAGS
from rheostat.signals.lag import lag_rows
from rheostat.storage.local_files import LocalFileSystem
from rheostat_lab.clusters.executor_processes import SMALL
from rheostat_lab.clusters.standalone_cluster import Cluster

ROW_MS = 20
"""Milliseconds that a row occupies a slot, far more than a busy machine adds to a sleep."""

DEADLINE_S = 240.0
_QUICK_START = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'"
_APP = f"""
import sys
from pathlib import Path
from pyspark.sql import SparkSession

bootstrap, topic, folder, *_ = sys.argv[1:]
spark = SparkSession.builder.appName("copy").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
if spark.sparkContext.getConf().get("spark.rheostat.journal", ""):
    import rheostat
    rheostat.attach(spark)
rows = spark.readStream.format("kafka").options(**{{
    "kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest",
}}).load()
slow = rows.where("java_method('java.lang.Thread', 'sleep', {ROW_MS}L) = 'null'")

def write(batch, number):
    values = [row.value for row in batch.collect()]
    Path(folder, "out", str(number)).write_text("\\n".join(values))

query = (
    slow.selectExpr("CAST(value AS STRING) AS value").writeStream.foreachBatch(write)
    .option("checkpointLocation", folder + "/checkpoint").trigger(processingTime="1 second").start()
)
while not Path(folder, "enough").exists():
    query.awaitTermination(0.2)
query.stop()
spark.stop()
"""


class Load:
    """Appends numbered rows to a topic: a backlog at once, or at a rate in a thread."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
        self._topic = topic
        self._thread: threading.Thread | None = None
        self._end = threading.Event()
        self.rows = 0

    def append(self, rows: int) -> None:
        """Append this number of rows now; raises RuntimeError between ``begin`` and ``end``, where
        both would append the same numbers.
        """
        if self._thread:
            raise RuntimeError("the load is being appended at a rate; end it first")
        self._append(rows)

    def _append(self, rows: int) -> None:
        for number in range(self.rows, self.rows + rows):
            self._producer.produce(self._topic, str(number).encode(), str(number).encode())
        self.rows += rows
        if self._producer.flush(30):
            raise TimeoutError("the broker has not acknowledged all rows")

    def begin(self, rows_per_s: float) -> None:
        """Append at a constant rate until ``end``."""
        self._end.clear()
        self._thread = threading.Thread(target=self._run, args=(rows_per_s,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop appending."""
        self._end.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def _run(self, rows_per_s: float) -> None:
        began, before = time.monotonic(), self.rows
        while not self._end.wait(0.1):
            due = int((time.monotonic() - began) * rows_per_s)
            self._append(before + due - self.rows)


class KilledJob:
    """The job in ``folder``, run by ``rheostat run`` with these ``options``, or (None) as a plain
    script with room for ``executors`` executors. ``settings`` are further Spark settings; with
    ``spark.rheostat.journal`` among them, the script attaches itself.
    """

    def __init__(
        self,
        folder: Path,
        cluster: Cluster,
        bootstrap: str,
        topic: str,
        executors: int,
        options: Sequence[str] | None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._bootstrap, self._topic = bootstrap, topic
        (folder / "out").mkdir(parents=True)
        (folder / "app.py").write_text(_APP)
        own = [str(folder / "app.py"), bootstrap, topic, str(folder)]
        sized = ["-m", "rheostat.cli", "run", "--master", cluster.url, "--kafka", bootstrap]
        sized += ["--journal", str(folder / "journal"), "--max", str(executors), *(options or ())]
        self._command = [
            sys.executable,
            *(own if options is None else [*sized, own[0], "--", *own[1:]]),
        ]
        own_conf = self._settings(settings or {})
        self._environment = {**os.environ, **cluster.driver_environment(), **own_conf}
        if options is None:
            self._environment["PYSPARK_SUBMIT_ARGS"] = (
                f"--master {cluster.url} --conf spark.cores.max={executors}"
                f" --conf spark.executor.cores=1 {_QUICK_START} pyspark-shell"
            )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start the process; return the Unix time."""
        with (self.folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                self._command, env=self._environment, cwd=self.folder, stdout=log, stderr=log
            )
        return time.time()

    def kill(self) -> None:
        """End the driver like ``kill -9``."""
        if self._process:
            self._process.kill()
            self._process.wait()

    def finish(self) -> None:
        """Let the job end by itself."""
        (self.folder / "enough").touch()
        if self._process and self._process.wait(DEADLINE_S):
            raise RuntimeError(self.log)

    @property
    def log(self) -> str:
        """The output of the process."""
        return (self.folder / "log").read_text()

    def lag_rows(self) -> int | None:
        """Return the broker's latest offsets minus those that the checkpoint has committed."""
        committed = committed_offsets(LocalFileSystem(), str(self.folder / "checkpoint"))
        broker = Offsets({"bootstrap.servers": self._bootstrap})
        try:
            latest = broker.latest([self._topic])
        finally:
            broker.close()
        return lag_rows(latest, committed) if latest and committed else None

    def output(self) -> Counter[int]:
        """Return how often each row was stored."""
        texts = (file.read_text() for file in (self.folder / "out").iterdir())
        return Counter(int(value) for text in texts for value in text.split())

    def until(self, what: str, reached: Callable[[], bool]) -> float:
        """Wait until the condition holds and return the Unix time; raises TimeoutError, and
        RuntimeError if the process ends first.
        """
        deadline = time.monotonic() + DEADLINE_S
        while not reached():
            if self._process and self._process.poll() is not None:
                raise RuntimeError(f"the job ended before {what}: {self.log}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {DEADLINE_S:g} s: {what}: {self.log}")
            time.sleep(0.1)
        return time.time()

    def _settings(self, more: Mapping[str, str]) -> Mapping[str, str]:
        """Write Spark's defaults for this job and return the environment that names them."""
        conf = self.folder / "conf"
        conf.mkdir()
        jars = ":".join(map(str, source_jars().paths))
        defaults = {
            **SMALL,
            "spark.driver.extraClassPath": jars,
            "spark.executor.extraClassPath": jars,
            "spark.executor.extraJavaOptions": " ".join(EXECUTOR_FLAGS),
            "spark.ui.port": "0",
            **more,
        }
        lines = (f"{name} {value}\n" for name, value in defaults.items())
        (conf / "spark-defaults.conf").write_text("".join(lines))
        return {
            "SPARK_CONF_DIR": str(conf),
            "PYSPARK_SUBMIT_ARGS": f"{_QUICK_START} pyspark-shell",
            "XDG_STATE_HOME": str(self.folder / "state"),
        }
