"""Baskets that close after inactivity: applyInPandasWithState with an event-time timeout, and a
count whose key has many types; foreachBatch into files.
"""

import event_files
import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

spark = event_files.session("baskets")


def basket(key, frames, state):
    if state.hasTimedOut:
        text = f"closed with {state.get[0]} of {state.get[1]}"
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
        text = f"{count} so far"
    yield pd.DataFrame({"customer": [key[0]], "day": [str(key[1])], "told": [text]})


events = event_files.events(spark)
baskets = (
    events.withWatermark("at", "10 seconds")
    .withColumn("day", F.to_date("at"))
    .groupBy("customer", "day")
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
event_files.run(baskets, "update", "baskets")
event_files.run(counts, "update", "counts")
