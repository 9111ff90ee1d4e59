"""The Spark session of a command that runs as a job."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from rheostat.local.local_session import start_session
from rheostat.machine.jdk import find_jdk

_LOG = (
    "-Drheostat.log.level=off"
    f" -Dlog4j2.configurationFile={(Path(__file__).parent / 'templates' / 'log4j2.properties').as_uri()}"  # noqa: E501
)


@contextmanager
def replay_session(
    master: str, name: str = "rheostat replay", more: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Yield a quiet session on ``master`` and stop it; raises BadInput without a Java.

    Fails when: the workers of a remote master have no Rheostat installed.
    """
    os.environ["JAVA_HOME"] = str(find_jdk().home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
    }
    options["spark.driver.extraJavaOptions"] = _LOG
    if master.startswith("local"):
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    session = start_session(master, {**options, **(more or {})}, name)
    try:
        yield session
    finally:
        session.stop()
