"""Sessions of a customer whose gap depends on the row, and windows of windows over the same events,
both with a key of several columns; two queries, foreachBatch into files.
"""

import event_files
from pyspark.sql import functions as F

spark = event_files.session("sittings")

events = event_files.events(spark).withWatermark("at", "10 seconds")
gap = F.expr(
    "case region when 'north' then '2 seconds' when 'süd' then '9 seconds' else '500 ms' end"
)
sittings = events.groupBy(F.session_window("at", gap), "customer", "region").agg(
    F.count("*").alias("events"), F.min("id").alias("first"), F.sum("amount").alias("amount")
)
by_five = events.groupBy(F.window("at", "5 seconds"), "customer").count()
by_twenty = by_five.groupBy(F.window(F.window_time("window"), "20 seconds"), "customer").agg(
    F.count("*").alias("windows"), F.sum("count").alias("events")
)
event_files.run(sittings, "append", "sittings")
event_files.run(by_twenty, "append", "windows of windows")
