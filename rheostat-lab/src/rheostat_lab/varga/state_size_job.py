"""The state-size job: a keyed state of a given size, from Kafka to Kafka, with the elapsed time in
each output record.

Run by ``rheostat run``: state_size_job.py FOLDER BOOTSTRAP TOPIC-IN TOPIC-OUT PARTITIONS. The name
of a batch in an output record includes the start of this process, so that a batch that is written
again after a restart is a different one.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rheostat_lab.varga.state_size_query import kept, records, settings


def main(folder: Path, bootstrap: str, read: str, written: str, partitions: int) -> None:
    """Run until there is a file ``enough`` in the folder, or the query is stopped."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("state of a size")
    for name, value in settings(partitions).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    start = round(time.time())

    def write(batch: Any, number: int) -> None:
        out = records(batch, f"{start}-{number}").write.format("kafka")
        out.option("kafka.bootstrap.servers", bootstrap).option("topic", written).save()

    query = (
        kept(spark, bootstrap, read)
        .writeStream.outputMode("update")
        .queryName("state-size")
        .foreachBatch(write)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(processingTime="1 second")
        .start()
    )
    while query.isActive and not (folder / "enough").exists():
        query.awaitTermination(0.2)
    query.stop()


if __name__ == "__main__":
    own, at, read_topic, written_topic, partition_count = sys.argv[1:]
    main(Path(own), at, read_topic, written_topic, int(partition_count))
