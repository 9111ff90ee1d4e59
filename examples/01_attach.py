"""Autoscale an existing session: run it on a cluster with room for several executors."""

from pyspark.sql import SparkSession

import rheostat

spark = SparkSession.builder.appName("orders").getOrCreate()
handle = rheostat.attach(
    spark,
    slo=10,  # seconds within which 99 % of the rows are to be committed
    limits=(1, 3),  # executors: floor and ceiling, never crossed
    # kafka={"bootstrap.servers": "broker:9092"},  for a Kafka source
)

# Your query, unchanged. This one generates its rows.
rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
query = rows.writeStream.format("noop").trigger(processingTime="1 second").start()
query.awaitTermination(10)

if handle.last and handle.last.raw:
    print(f"{handle.last.target} executors, because: {handle.last.raw.reason}")
handle.stop()  # a job that kept running would keep its size
query.stop()
