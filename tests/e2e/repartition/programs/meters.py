"""Meters with rows instead of pandas: an initial state, a map with a key of two columns, a list, a
value, and several event-time timers per key; foreachBatch into files.
"""

import event_files
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import StringType, StructField, StructType

spark = event_files.session("meters")

OUTPUT = StructType([StructField("customer", StringType()), StructField("told", StringType())])


class Meters(StatefulProcessor):
    def init(self, handle):
        self.handle = handle
        self.sums = handle.getMapState("sums", "region string, kind string", "cents long")
        self.ids = handle.getListState("ids", "id long")
        self.first = handle.getValueState("first", "id long, since string")

    def handleInitialState(self, key, initial, timerValues):
        self.first.update((initial["first"], "before"))

    def handleInputRows(self, key, rows, timerValues):
        rows = list(rows)
        if not self.first.exists():
            self.first.update((rows[0]["id"], "now"))
        for row in rows:
            at = (row["region"], row["kind"])
            before = (self.sums.getValue(at) or (0,))[0]
            self.sums.updateValue(at, (before + int((row["amount"] or 0) * 100),))
        self.ids.appendList([(row["id"],) for row in rows])
        self.handle.registerTimer(max(int(row["at"].timestamp() * 1000) for row in rows) + 6_000)
        yield Row(customer=key[0], told=f"{len(rows)} more, {self._kept()}")

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        at = expiredTimerInfo.getExpiryTimeInMs()
        timers = sorted(self.handle.listTimers())
        yield Row(customer=key[0], told=f"{at} of {timers}: {self._kept()}")
        self.ids.clear()
        for region, kind in [*self.sums.keys()]:
            if region is None:
                self.sums.removeKey((region, kind))

    def _kept(self):
        sums = sorted((str(k[0]), str(k[1]), v[0]) for k, v in self.sums.iterator())
        ids = sorted(one[0] for one in self.ids.get())
        first = self.first.get() if self.first.exists() else None
        return f"{sums} {ids} {tuple(first) if first else None}"

    def close(self):
        pass


events = event_files.events(spark).withWatermark("at", "10 seconds")
known = spark.createDataFrame(
    [(f"customer-{n}", n) for n in range(0, 60, 3)], "customer string, first long"
)
result = events.groupBy("customer").transformWithState(
    Meters(),
    OUTPUT,
    outputMode="Update",
    timeMode="EventTime",
    initialState=known.groupBy("customer"),
)
event_files.run(result, "update")
