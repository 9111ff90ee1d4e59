"""Creates a PySpark session from a master and static options."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

from rheostat.local.executor_options import LOG_SETTINGS
from rheostat.machine.jdk import find_jdk
from rheostat.machine.orderly_end import unchanged


def start_session(master: str, options: Mapping[str, str], name: str) -> SparkSession:
    """Return a new session; set the driver's environment (``Cluster.driver_environment``) before.

    Limitation: only the first session of a process can set JVM options.
    """
    builder = SparkSession.builder.master(master).appName(name)
    for option, value in options.items():
        builder = builder.config(option, value)
    with unchanged():
        return builder.getOrCreate()


DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
QUIET, ERRORS_ONLY = (f"-Drheostat.log.level={level} {LOG_SETTINGS}" for level in ("off", "error"))
"""Options of a JVM whose log is off, and of one whose log contains errors only."""


@contextmanager
def replay_session(
    master: str, name: str = "rheostat replay", more: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Yield a quiet session on ``master`` and stop it; raises BadInput without a suitable Java.

    The workers of a remote master need Rheostat installed.
    """
    os.environ["JAVA_HOME"] = str(find_jdk().home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        DRIVER_OPTIONS: QUIET,
    }
    if master.startswith("local"):
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    session = start_session(master, {**options, **(more or {})}, name)
    try:
        yield session
    finally:
        session.stop()
