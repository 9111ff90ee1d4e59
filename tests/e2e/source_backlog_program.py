"""A stream that falls behind its source, observed as by the autoscaler. It prints a JSON line with
the true backlog for each observation during which nothing changed. Usage: SOURCE FOLDER SECONDS;
it ends after at most SECONDS.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from rheostat.errors import BadInput
from rheostat.sources.backlog_reader import BacklogReader
from rheostat.spark.assembly import source_reader
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.sensing.sensor import SparkSensor
from rheostat_lab.services.delta_jars import DELTA_SETTINGS

SAMPLES = 30
ICEBERG_TABLE = "local.db.rows"


class Writer:
    """Appends one file or one version at a time; ``rows`` counts the visible ones while the
    ``lock`` is free.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder, self.rows, self.number = kind, folder, 0, 0
        self.chance = random.Random(5)
        self.lock = threading.Lock()
        (folder / "in").mkdir()

    def append(self) -> None:
        count = self.chance.randint(200, 400)
        if self.kind == "files":
            texts = ["x" * self.chance.randint(20, 60) for _ in range(count)]
            hidden = self.folder / "in" / f"_{self.number}"
            hidden.write_text("\n".join(texts) + "\n")
            hidden.rename(self.folder / "in" / f"part {self.number}.txt")
        elif self.kind == "iceberg":
            SparkSession.active().range(count).writeTo(ICEBERG_TABLE).append()
        else:
            import pyarrow as pa
            from deltalake import write_deltalake

            table = pa.table({"value": [f"{row}" for row in range(count)]})
            write_deltalake(str(self.folder / "in"), table, mode="append")
        self.number += 1
        self.rows += count


def main(kind: str, folder: Path, seconds: float) -> None:
    """Write, stream and observe for ``seconds``."""
    writer = Writer(kind, folder)
    options = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}
    if kind == "delta":
        options |= DELTA_SETTINGS
    if kind == "iceberg":
        catalog = "spark.sql.catalog.local"
        options |= {catalog: "org.apache.iceberg.spark.SparkCatalog", f"{catalog}.type": "hadoop"}
        options[f"{catalog}.warehouse"] = str(folder / "in")
    spark = SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    if kind == "iceberg":
        spark.sql(f"CREATE TABLE {ICEBERG_TABLE} (id BIGINT) USING iceberg")
    for _ in range(4):
        writer.append()
    limit = "streaming-max-files-per-micro-batch" if kind == "iceberg" else "maxFilesPerTrigger"
    reader = spark.readStream.option(limit, 2)
    place = str(folder / "in")
    stream = (
        reader.text(place)
        if kind == "files"
        else reader.format(kind).load(ICEBERG_TABLE if kind == "iceberg" else place)
    )

    def slow_count(batch: Any, _: int) -> None:
        batch.count()
        time.sleep(0.3)

    query = (
        stream.writeStream.foreachBatch(slow_count)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="1 second")
        .start()
    )
    internals = internals_of(spark)

    def backlog_reader(query: Any, number: int, description: str) -> BacklogReader | None:
        return source_reader(internals, query, number, description)

    sensor = SparkSensor(spark, None, None, readers=backlog_reader)
    ended = threading.Event()

    def write() -> None:
        while not ended.wait(0.4):
            with writer.lock:
                writer.append()

    thread = threading.Thread(target=write)
    thread.start()
    until = time.monotonic() + seconds
    compared = 0
    while time.monotonic() < until and compared < SAMPLES and query.isActive:
        time.sleep(0.2)
        with writer.lock:
            rows, finished = writer.rows, _finished(query)
            (view,) = sensor.observe(time.time())
        if finished is not None and finished == _finished(query):
            truth = rows - finished
            lag = [
                view.lag_rows,
                view.lag_counted,
                view.lag_unit,
                view.input_rows_per_s,
                view.lag_s,
            ]
            sys.stdout.write(json.dumps([truth, *lag]) + "\n")
            compared += bool(truth and view.lag_rows is not None and view.input_rows_per_s)
    ended.set()
    thread.join()
    if query.exception():
        raise BadInput(str(query.exception()))
    query.stop()
    spark.stop()


def _finished(query: Any) -> int | None:
    batches = {batch["batchId"]: batch["numInputRows"] for batch in query.recentProgress}
    return sum(batches.values()) if batches else None


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
