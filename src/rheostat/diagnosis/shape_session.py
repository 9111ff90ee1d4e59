"""The session in which the shape of queries is measured: two executors on a local cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from rheostat.local.executor_options import session_options
from rheostat.local.local_files import local_files
from rheostat.local.local_session import start_session
from rheostat.local.standalone.standalone_cluster import Cluster
from rheostat.model import Limits

EXECUTORS = 2


@contextmanager
def shape_session() -> Iterator[SparkSession]:
    """Hand out a session with ``EXECUTORS`` executors of one slot, and end it with its cluster."""
    with Cluster(cores=EXECUTORS) as cluster:
        os.environ.update(cluster.driver_environment())
        files = local_files()
        options = session_options(Limits.between(EXECUTORS, EXECUTORS), jars=files.jars, quiet=True)
        session = start_session(cluster.url, {**options, **files.settings}, "rheostat doctor")
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()
