"""Visits of customers: a value, a list and a map that expire after a day; one batch a start."""

import event_files
import pandas as pd
from pyspark.sql.streaming import StatefulProcessor

DAY_MS = 24 * 3600 * 1000

spark = event_files.session("visits")


class Visits(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "seen long", DAY_MS)
        self.last = handle.getListState("last", "id long", DAY_MS)
        self.kinds = handle.getMapState("kinds", "kind string", "seen long", DAY_MS)

    def handleInputRows(self, key, rows, timerValues):
        for frame in rows:
            count = (self.count.get()[0] if self.count.exists() else 0) + len(frame)
            self.count.update((count,))
            known = [row[0] for row in self.last.get()] if self.last.exists() else []
            self.last.put([(int(one),) for one in sorted([*known, *frame["id"]])[-5:]])
            for kind in frame["kind"]:
                before = self.kinds.getValue((kind,)) or (0,)
                self.kinds.updateValue((kind,), (before[0] + 1,))
        last = [row[0] for row in self.last.get()]
        kinds = sorted((k[0], v[0]) for k, v in self.kinds.iterator())
        text = f"{self.count.get()[0]} {sorted(last)} {kinds}"
        yield pd.DataFrame({"customer": [key[0]], "region": [key[1]], "told": [text]})

    def close(self):
        pass


events = event_files.events(spark)
result = events.groupBy("customer", "region").transformWithStateInPandas(
    Visits(),
    "customer string, region string, told string",
    outputMode="Update",
    timeMode="ProcessingTime",
)
# With processing time there is always another batch, so availableNow never ends.
event_files.run(result, "update", once=True)
