"""A PySpark session from a master and its static options."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession


def start_session(master: str, options: Mapping[str, str], name: str) -> SparkSession:
    """Return a new session; the driver's environment (``Cluster.driver_environment``) must have been set before the process's first."""
    builder = SparkSession.builder.master(master).appName(name)
    for option, value in options.items():
        builder = builder.config(option, value)
    return builder.getOrCreate()
