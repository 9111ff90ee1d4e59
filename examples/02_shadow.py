"""Observe a session and log recommendations; nothing is changed."""

from pyspark.sql import SparkSession

import rheostat

spark = SparkSession.builder.appName("orders").getOrCreate()
handle = rheostat.shadow(spark, slo=10, limits=(1, 8))

# Your query, unchanged. This one generates its rows.
rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
query = rows.writeStream.format("noop").trigger(processingTime="1 second").start()
query.awaitTermination(10)

print(f"rheostat explain {handle.journal}")
handle.stop()
query.stop()
