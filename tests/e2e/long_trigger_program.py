"""Runs a query with a trigger interval of a minute and ``min=0``, with shortened pauses: executors
are released between two batches and are back before the next one. Prints what was observed, a line
of JSON.

Usage: python -m tests.e2e.long_trigger_program FOLDER; the master is that of spark-defaults.conf.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from tests.e2e.drivers_elsewhere import until
from tests.e2e.two_runs_program import has_no_executor, started

import rheostat
from rheostat.config import LoopOptions
from rheostat.protocols import release


def main(folder: Path) -> None:
    release.LEAD_S, release.SETTLE_S, release.WORTH_S = 20.0, 2.0, 5.0
    (folder / "in").mkdir()
    (folder / "in" / "0.txt").write_text("one\ntwo\none\n")
    spark = SparkSession.builder.appName("long trigger").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    loop = LoopOptions(interval_s=1.0)
    handle = rheostat.attach(spark, limits=(0, 2), journal=folder / "journal", loop=loop)
    query = started(spark, folder, processingTime="60 seconds")
    until("a batch", lambda: query.lastProgress is not None)
    until("all executors are released", lambda: has_no_executor(spark))
    batch = query.lastProgress["batchId"]
    (folder / "in" / "1.txt").write_text("one\n")
    until("an executor", lambda: not has_no_executor(spark))
    is_before = query.lastProgress["batchId"] == batch
    until("another batch", lambda: query.lastProgress["batchId"] > batch)
    query.stop()
    handle.stop()
    counts = {row.value: row["count"] for row in spark.read.json(f"{folder}/out").collect()}
    spark.stop()
    sys.stdout.write(json.dumps({"counts": counts, "is_before": is_before}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
