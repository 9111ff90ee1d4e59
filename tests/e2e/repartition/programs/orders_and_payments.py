"""Deduplicated orders, joined with their payments, in sessions of a customer; a file sink."""

import sys

import event_files
from pyspark.sql import functions as F

spark = event_files.session("orders and payments")

events = event_files.events(spark)
orders = (
    events.where("kind = 'order'")
    .withWatermark("at", "20 seconds")
    .dropDuplicatesWithinWatermark(["id"])
    .select(
        F.col("id").alias("order_id"),
        F.struct("customer", "region").alias("who"),
        F.col("at").alias("ordered_at"),
    )
)
payments = (
    events.where("kind = 'payment'")
    .withWatermark("at", "20 seconds")
    .select(F.col("id").alias("paid_id"), "amount", F.col("at").alias("paid_at"))
)
paid = orders.join(
    payments,
    F.expr(
        "order_id = paid_id and paid_at >= ordered_at"
        " and paid_at <= ordered_at + interval 10 seconds"
    ),
    "leftOuter",
)
sessions = paid.groupBy(F.session_window("ordered_at", "5 seconds"), "who").agg(
    F.count("*").alias("orders"), F.sum("amount").alias("paid")
)
query = (
    sessions.writeStream.format("json")
    .option("path", sys.argv[3])
    .option("checkpointLocation", sys.argv[2])
    .outputMode("append")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
