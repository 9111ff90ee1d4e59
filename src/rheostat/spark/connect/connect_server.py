"""The script of ``rheostat connect-server``: creates a session, in which Spark's own plugin starts
the server, and waits.
"""

from __future__ import annotations

import time

from pyspark.sql import SparkSession

_POLL_S = 1.0


def serve() -> None:
    """Print the address of the server and wait for the end of the application."""
    spark = SparkSession.builder.getOrCreate()
    conf, context = spark.sparkContext.getConf(), spark.sparkContext
    address = (conf.get(f"spark.connect.grpc.binding.{part}", "") for part in ("address", "port"))
    print(f"Spark Connect: sc://{':'.join(address)}", flush=True)  # noqa: T201
    while context.applicationId and SparkSession.getActiveSession() is not None:
        time.sleep(_POLL_S)


if __name__ == "__main__":
    serve()
