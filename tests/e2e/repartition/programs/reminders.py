"""Deduplicated events, then a text that grows until inactivity: dropDuplicatesWithinWatermark
followed by applyInPandasWithState with an event-time timeout; foreachBatch into files.
"""

import event_files
import pandas as pd
from pyspark.sql.streaming.state import GroupStateTimeout

spark = event_files.session("reminders")


def remind(key, frames, state):
    texts = []
    if state.hasTimedOut:
        texts.append(f"quiet after {state.get[0]}")
        state.remove()
    else:
        earlier = state.get[0] if state.exists else ""
        for frame in frames:
            for one in sorted(frame["id"]):
                earlier = f"{earlier[-200:]},{one}"
            latest = int(frame["at"].max().timestamp() * 1000)
        state.update((earlier,))
        state.setTimeoutTimestamp(max(latest, state.getCurrentWatermarkMs()) + 4_000)
        texts.append(f"seen {earlier}")
    yield pd.DataFrame({"customer": [key[0]], "kind": [key[1]], "told": texts})


events = event_files.events(spark).withWatermark("at", "10 seconds")
result = (
    events.dropDuplicatesWithinWatermark(["id", "kind"])
    .groupBy("customer", "kind")
    .applyInPandasWithState(
        remind,
        "customer string, kind string, told string",
        "seen string",
        "append",
        GroupStateTimeout.EventTimeTimeout,
    )
)
event_files.run(result, "append")
