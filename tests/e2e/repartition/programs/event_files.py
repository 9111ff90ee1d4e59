"""Functions that these programs share: a session with the settings of the command line, the input
files, read one a batch, and the output files.

Run: PROGRAM.py INPUT CHECKPOINT OUTPUT [NAME=VALUE ...]
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

EVENT = "kind string, id long, customer string, region string, amount decimal(12,2), at timestamp"


def session(name):
    """Return a session with two slots."""
    builder = SparkSession.builder.master("local[2]").appName(name)
    for setting in sys.argv[4:]:
        builder = builder.config(*setting.split("=", 1))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def events(spark):
    """Return the events of all files."""
    return spark.readStream.schema(EVENT).option("maxFilesPerTrigger", 1).json(sys.argv[1])


def run(frame, mode, name="", sinks=("",), **trigger):
    """Read all existing files, and write the rows of each batch into a file of every sink; ``name``
    distinguishes the queries of a program.
    """
    checkpoint, output = (Path(place, name) for place in sys.argv[2:4])

    def keep(batch, number):
        rows = batch.toJSON().collect()
        for sink in sinks:
            (output / sink).mkdir(parents=True, exist_ok=True)
            (output / sink / f"{number:03}.json").write_text("\n".join(rows), encoding="utf-8")

    query = (
        frame.writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(checkpoint))
        .outputMode(mode)
        .trigger(**trigger or {"availableNow": True})
        .start()
    )
    query.awaitTermination()
