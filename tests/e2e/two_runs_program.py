"""Runs a query with ``availableNow`` twice in one session with ``min=0``, and waits after each run
until no executor is left. Prints the counts and the details of the journal, a line of JSON.

Usage: python -m tests.e2e.two_runs_program FOLDER; the master is that of spark-defaults.conf.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.e2e.drivers_elsewhere import until

import rheostat
from rheostat.config import LoopOptions
from rheostat.journal.folder import read
from rheostat.protocols import release


def started(spark: SparkSession, folder: Path, **trigger: Any) -> Any:
    """Start a query that counts the rows of each word in the files of a folder."""
    return (
        spark.readStream.text(str(folder / "in"))
        .groupBy("value")
        .count()
        .writeStream.outputMode("complete")
        .foreachBatch(
            lambda rows, _: rows.coalesce(1).write.mode("overwrite").json(f"{folder}/out")
        )
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(**trigger)
        .start()
    )


def has_no_executor(spark: SparkSession) -> bool:
    """Return whether only the driver manages blocks."""
    context: Any = spark.sparkContext
    return bool(context._jsc.sc().getExecutorMemoryStatus().size() == 1)


def main(folder: Path) -> None:
    release.SETTLE_S = 2.0
    (folder / "in").mkdir()
    spark = SparkSession.builder.appName("two runs").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    handle = rheostat.attach(
        spark,
        policy="deadline",
        limits=(0, 2),
        journal=folder / "journal",
        loop=LoopOptions(interval_s=1.0),
    )
    for run in range(2):
        (folder / "in" / f"{run}.txt").write_text("one\ntwo\none\n")
        started(spark, folder, availableNow=True).awaitTermination()
        until("all executors are released", lambda: has_no_executor(spark))
    # A job of the session that is no query's gets an executor, too.
    counts = {row.value: row["count"] for row in spark.read.json(f"{folder}/out").collect()}
    handle.stop()
    ten = spark.range(10).count()
    spark.stop()
    details = [record.rescaling.detail for record in read(folder / "journal")]
    sys.stdout.write(json.dumps({"counts": counts, "ten": ten, "details": details}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
