"""Baskets that close when nothing comes: applyInPandasWithState with a timeout of event time, and a
count whose key has many types; foreachBatch into files.

Run: baskets.py INPUT CHECKPOINT OUTPUT [NAME=VALUE ...]
"""

import sys
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

builder = SparkSession.builder.master("local[2]").appName("baskets")
for setting in sys.argv[4:]:
    builder = builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


def basket(key, frames, state):
    if state.hasTimedOut:
        told = f"closed with {state.get[0]} of {state.get[1]}"
        state.remove()
    else:
        count, total = state.get if state.exists else (0, 0.0)
        latest = 0
        for frame in frames:
            count += len(frame)
            total += float(frame["amount"].fillna(0).sum())
            latest = max(latest, int(frame["at"].max().timestamp() * 1000))
        state.update((count, round(total, 2)))
        state.setTimeoutTimestamp(max(latest, state.getCurrentWatermarkMs()) + 7_000)
        told = f"{count} so far"
    yield pd.DataFrame({"customer": [key[0]], "day": [str(key[1])], "told": [told]})


def keep(folder):
    def write(batch, number):
        rows = batch.toJSON().collect()
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"{number:03}.json").write_text("\n".join(rows))

    return write


def run(frame, name):
    query = (
        frame.writeStream.foreachBatch(keep(f"{sys.argv[3]}/{name}"))
        .option("checkpointLocation", f"{sys.argv[2]}/{name}")
        .outputMode("update")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


events = (
    spark.readStream.schema(
        "kind string, id long, customer string, region string, amount decimal(12,2), at timestamp"
    )
    .option("maxFilesPerTrigger", 1)
    .json(sys.argv[1])
)
baskets = (
    events.withWatermark("at", "10 seconds")
    .groupBy("customer", F.to_date("at").alias("day"))
    .applyInPandasWithState(
        basket,
        "customer string, day string, told string",
        "count long, total double",
        "update",
        GroupStateTimeout.EventTimeTimeout,
    )
)
counts = events.groupBy(
    F.struct("customer", "region").alias("who"),
    "amount",
    F.to_date("at").alias("day"),
    F.expr("case id % 4 when 0 then 0.0D when 1 then -0.0D when 2 then double('NaN') end").alias(
        "number"
    ),
    F.encode("customer", "utf-8").alias("raw"),
    F.array("kind").alias("kinds"),
).agg(F.count("*").alias("rows"), F.max("id").alias("newest"))
run(baskets, "baskets")
run(counts, "counts")
