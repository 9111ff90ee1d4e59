"""A script that does not use Rheostat.

Try it: ``rheostat run --max 2 examples/03_run_around.py -- 10``. The argument is the duration
in seconds.
"""

import sys

from pyspark.sql import SparkSession

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
spark = SparkSession.builder.appName("orders").getOrCreate()
rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
query = rows.writeStream.format("noop").trigger(processingTime="1 second").start()
query.awaitTermination(seconds)
query.stop()
spark.stop()
