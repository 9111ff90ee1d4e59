"""Orders without repeats, joined with their payments, in sessions of a customer; a file sink.

Run: orders_and_payments.py INPUT CHECKPOINT OUTPUT [NAME=VALUE ...]
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

builder = SparkSession.builder.master("local[2]").appName("orders and payments")
for setting in sys.argv[4:]:
    builder = builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")

events = (
    spark.readStream.schema(
        "kind string, id long, customer string, region string, amount decimal(12,2), at timestamp"
    )
    .option("maxFilesPerTrigger", 1)
    .json(sys.argv[1])
)
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
