"""Writes a small event log of the running Spark version for the tests, reduced to what is read.

    python scripts/event_log_sample.py count tests/unit/replay/event_logs/samples
    python scripts/event_log_sample.py mixed tests/unit/replay/event_logs/samples
    python scripts/event_log_sample.py rolled tests/unit/replay/event_logs/samples

``count`` is a stateful query with 200 rows per batch in local mode. ``mixed`` runs a join of two
streams and a count at the same time, with Spark SQL jobs in between and dynamic allocation, on two
executors that are processes. ``rolled`` is a stateless query whose log has several files; the
History Server's own code compacts all but the newest.
"""

from __future__ import annotations

import json
import lzma
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import typer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

KEPT = (  # noqa: SIM905  (readable)
    "LogStart ExecutorAdded ExecutorRemoved EnvironmentUpdate ApplicationStart ApplicationEnd JobStart"
    " TaskEnd QueryStartedEvent QueryProgressEvent QueryTerminatedEvent"
).split()
CONF = {"spark.app.name", "spark.master", "spark.task.cpus", "spark.dynamicAllocation.enabled"}
PROPERTIES = {"sql.streaming.queryId", "streaming.sql.batchId"}
METRICS = ("Executor Run Time", "JVM GC Time", "Disk Bytes Spilled")
SESSION = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}
ROLLED = {
    "spark.eventLog.rolling.enabled": "true",
    "spark.eventLog.rolling.maxFileSize": "10m",
}
DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
}


def stream(spark: SparkSession, partitions: int = 1) -> DataFrame:
    """Return a stream of 200 rows per batch."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 200)
    return source.option("numPartitions", partitions).load()


def count(spark: SparkSession) -> list[Any]:
    """Run a keyed count for four batches."""
    counted = stream(spark).groupBy((F.col("value") % 5).alias("key")).count()
    query = counted.writeStream.format("noop").outputMode("update").queryName("count").start()
    wait(query, 4)
    return [query]


def mixed(spark: SparkSession) -> list[Any]:
    """Run two queries, one a join of two streams, and Spark SQL between their batches."""
    left = stream(spark).withWatermark("timestamp", "1 second")
    right = stream(spark).withColumnRenamed("value", "other")
    right = right.withColumnRenamed("timestamp", "at").withWatermark("at", "1 second")
    near = F.expr("value = other and at >= timestamp and at <= timestamp + interval 1 second")
    counted = stream(spark).groupBy((F.col("value") % 5).alias("key")).count()
    queries = [
        left.join(right, near).writeStream.format("noop").queryName("join").start(),
        counted.writeStream.format("noop").outputMode("update").queryName("count").start(),
    ]
    for _ in range(4):
        spark.range(10_000).selectExpr("id % 7 as k").groupBy("k").count().collect()
        time.sleep(1.0)
    for query in queries:
        wait(query, 4)
    return queries


def rolled(spark: SparkSession) -> list[Any]:
    """Run batches of 200 tasks until the log has three files."""
    query = stream(spark, 200).writeStream.format("noop").queryName("rolled").start()
    events = Path(spark.conf.get("spark.eventLog.dir", "").removeprefix("file://"))
    while len(list(events.glob("*/events_*"))) < 3:
        query.awaitTermination(0.2)
    wait(query, len(query.recentProgress) + 3)
    return [query]


def compact(spark: SparkSession, folder: Path) -> None:
    """Compact all files of a rolled log but the newest, as the History Server does."""
    jvm: Any = spark._jvm  # noqa: SLF001  (the class has no public constructor)
    hadoop = jvm.org.apache.hadoop.conf.Configuration()
    system = jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop)
    compactor = jvm.org.apache.spark.deploy.history.EventLogFileCompactor(
        jvm.org.apache.spark.SparkConf(), hadoop, system, 1, 0.0
    )
    files = sorted(folder.glob("events_*"))
    statuses = [system.getFileStatus(jvm.org.apache.hadoop.fs.Path(str(file))) for file in files]
    compactor.compact(jvm.PythonUtils.toSeq(statuses))


def wait(query: Any, batches: int) -> None:
    """Wait until the query has run some batches, then stop it."""
    while sum(event["numInputRows"] > 0 for event in query.recentProgress) < batches:
        query.awaitTermination(0.2)
    query.stop()


def cut(line: str) -> dict[str, Any] | None:
    """Return an event with the fields that are read; None for an event that is not read."""
    event: dict[str, Any] = json.loads(line)
    kind = event["Event"].rpartition("$")[2].removeprefix("SparkListener")
    if kind not in KEPT:
        return None
    if kind == "EnvironmentUpdate":
        properties = event["Spark Properties"]
        return {
            "Event": event["Event"],
            "Spark Properties": {name: properties[name] for name in CONF & properties.keys()},
        }
    if kind == "JobStart":
        own = event.get("Properties") or {}
        event = {name: event[name] for name in ("Event", "Job ID", "Stage IDs")}
        return {**event, "Properties": {name: own[name] for name in PROPERTIES & own.keys()}}
    if kind == "TaskEnd":
        info, metrics = event["Task Info"], event.get("Task Metrics") or {}
        event = {name: event[name] for name in ("Event", "Stage ID", "Task End Reason")}
        event["Task Info"] = {name: info[name] for name in ("Executor ID", "Failed")}
        return {**event, "Task Metrics": {name: metrics[name] for name in METRICS}}
    if kind == "ExecutorAdded":
        names = ("Total Cores", "Request Time", "Registration Time")
        info = event["Executor Info"]
        event["Executor Info"] = {name: info[name] for name in names if name in info}
    return event


def cut_lines(log: Path) -> str:
    """Return the lines of a log that are read, reduced to the fields that are read."""
    kept = [event for line in log.read_text().splitlines() if (event := cut(line))]
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in kept)


def main(kind: Literal["count", "mixed", "rolled"], folder: Path) -> None:
    """Run the application and write its log."""
    master = "local-cluster[2,1,512]" if kind == "mixed" else "local[1]"
    with tempfile.TemporaryDirectory() as events:
        builder = SparkSession.builder.master(master).appName("orders")
        options = SESSION | {"spark.eventLog.dir": Path(events).as_uri()}
        own: dict[str, dict[str, str]] = {"mixed": DYNAMIC, "rolled": ROLLED}
        for name, value in (options | own.get(kind, {})).items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark_version = spark.version
        {"count": count, "mixed": mixed, "rolled": rolled}[kind](spark)
        spark.stop()
        (log,) = [file for file in Path(events).iterdir() if not file.name.startswith(".")]
        name = "spark" if kind == "count" else kind
        out = folder / f"{name}-{spark_version}"
        if kind == "rolled":
            compact(spark, log)
            for file in log.glob("[a-z]*"):
                file.write_text(cut_lines(file))
            with tarfile.open(f"{out}.tar.xz", "w:xz") as tar:
                tar.add(log, log.name, filter=lambda info: None if "/." in info.name else info)
        else:
            text = cut_lines(log)
            Path(f"{out}.jsonl.xz").write_bytes(lzma.compress(text.encode()))


if __name__ == "__main__":
    typer.run(main)
