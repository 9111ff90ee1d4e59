"""Deduplicated events, then a text that grows until inactivity: dropDuplicatesWithinWatermark
followed by applyInPandasWithState with an event-time timeout; foreachBatch into files.
"""

import event_files
import pandas as pd
from pyspark.sql.streaming.state import GroupStateTimeout

spark = event_files.session("reminders")


def remind(key, frames, state):
    told = []
    if state.hasTimedOut:
        told.append(f"quiet after {state.get[0]}")
        state.remove()
    else:
        seen = state.get[0] if state.exists else ""
        for frame in frames:
            for one in sorted(frame["id"]):
                seen = f"{seen[-200:]},{one}"
            latest = int(frame["at"].max().timestamp() * 1000)
        state.update((seen,))
        state.setTimeoutTimestamp(max(latest, state.getCurrentWatermarkMs()) + 4_000)
        told.append(f"seen {seen}")
    yield pd.DataFrame({"customer": [key[0]], "kind": [key[1]], "told": told})


events = event_files.events(spark).withWatermark("at", "10 seconds")
told = (
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
event_files.run(told, "append")
