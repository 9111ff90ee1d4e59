"""Alarms of customers: a list, a map, a value and event-time timers; foreachBatch into files."""

import event_files
import pandas as pd
from pyspark.sql.streaming import StatefulProcessor

spark = event_files.session("alarms")


class Alarms(StatefulProcessor):
    def init(self, handle):
        self.handle = handle
        self.amounts = handle.getListState("amounts", "amount decimal(12,2)")
        self.regions = handle.getMapState("regions", "region string", "seen long")
        self.pending = handle.getValueState("pending", "at long")

    def handleInputRows(self, key, rows, timerValues):
        count = 0
        for frame in rows:
            count += len(frame)
            self.amounts.appendList([(amount,) for amount in frame["amount"]])
            for region in frame["region"].fillna("nowhere"):
                before = self.regions.getValue((region,)) or (0,)
                self.regions.updateValue((region,), (before[0] + 1,))
            latest = int(frame["at"].max().timestamp() * 1000)
        if self.pending.exists():
            self.handle.deleteTimer(self.pending.get()[0])
        self.pending.update((latest + 9_000,))
        self.handle.registerTimer(latest + 9_000)
        yield pd.DataFrame({"customer": [key[0]], "told": [f"{count} more"]})

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        amounts = sorted(str(row[0]) for row in self.amounts.get())
        regions = sorted((k[0], v[0]) for k, v in self.regions.iterator())
        result = f"quiet since {expiredTimerInfo.getExpiryTimeInMs()} {amounts} {regions}"
        self.amounts.clear()
        self.pending.clear()
        yield pd.DataFrame({"customer": [key[0]], "told": [result]})

    def close(self):
        pass


result = (
    event_files.events(spark)
    .withWatermark("at", "10 seconds")
    .groupBy("customer")
    .transformWithStateInPandas(
        Alarms(), "customer string, told string", outputMode="Update", timeMode="EventTime"
    )
)
event_files.run(result, "update")
