"""Visits of customers: a value, a list and a map that expire after a day; foreachBatch into files.

Run: visits.py INPUT CHECKPOINT OUTPUT [NAME=VALUE ...]
"""

import json
import sys
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StatefulProcessor

DAY_MS = 24 * 3600 * 1000

builder = SparkSession.builder.master("local[2]").appName("visits")
for setting in sys.argv[4:]:
    builder = builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


class Visits(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "seen long", DAY_MS)
        self.last = handle.getListState("last", "id long", DAY_MS)
        self.kinds = handle.getMapState("kinds", "kind string", "seen long", DAY_MS)

    def handleInputRows(self, key, rows, timerValues):
        for frame in rows:
            seen = (self.count.get()[0] if self.count.exists() else 0) + len(frame)
            self.count.update((seen,))
            known = [row[0] for row in self.last.get()] if self.last.exists() else []
            self.last.put([(int(one),) for one in sorted([*known, *frame["id"]])[-5:]])
            for kind in frame["kind"]:
                before = self.kinds.getValue((kind,)) or (0,)
                self.kinds.updateValue((kind,), (before[0] + 1,))
        last = [row[0] for row in self.last.get()]
        kinds = sorted((k[0], v[0]) for k, v in self.kinds.iterator())
        told = f"{self.count.get()[0]} {sorted(last)} {kinds}"
        yield pd.DataFrame({"customer": [key[0]], "region": [key[1]], "told": [told]})

    def close(self):
        pass


def keep(batch, number):
    rows = [[row["customer"], row["region"], row["told"]] for row in batch.collect()]
    Path(sys.argv[3]).mkdir(exist_ok=True)
    Path(sys.argv[3], f"{number:03}.json").write_text("\n".join(map(json.dumps, rows)))


events = (
    spark.readStream.schema(
        "kind string, id long, customer string, region string, amount decimal(12,2), at timestamp"
    )
    .option("maxFilesPerTrigger", 1)
    .json(sys.argv[1])
)
told = events.groupBy("customer", "region").transformWithStateInPandas(
    Visits(),
    "customer string, region string, told string",
    outputMode="Update",
    timeMode="ProcessingTime",
)
# By processing time there is always one more batch, so availableNow never ends.
query = (
    told.writeStream.foreachBatch(keep)
    .option("checkpointLocation", sys.argv[2])
    .outputMode("update")
    .trigger(once=True)
    .start()
)
query.awaitTermination()
