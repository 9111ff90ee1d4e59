"""A PySpark session from a master and its static options."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from rheostat.machine import signals


def start_session(master: str, options: Mapping[str, str], name: str) -> SparkSession:
    """Return a new session, once the driver's environment (``Cluster.driver_environment``) has been
    set.

    Fails when: it is not the first session of this process. A driver's JVM lives as long as the
    process and keeps its own options (memory, class path, environment); other options of the first
    session stay where the new ones do not name them.
    """
    builder = SparkSession.builder.master(master).appName(name)
    for option, value in options.items():
        builder = builder.config(option, value)
    with signals.unchanged():
        return builder.getOrCreate()
