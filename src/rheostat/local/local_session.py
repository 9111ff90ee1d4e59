"""Creates a PySpark session from a master and static options."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import STDOUT
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rheostat.errors import RheostatError
from rheostat.local.executor_options import LOG_SETTINGS
from rheostat.machine.jdk import find_jdk
from rheostat.machine.orderly_end import unchanged

_DRIVERS: list[Any] = []
"""The JVM of this process that writes to our log; empty before it starts."""


def start_session(
    master: str, options: Mapping[str, str], name: str, log: Path | None = None
) -> SparkSession:
    """Return a new session; set the driver's environment (``Cluster.driver_environment``) before.

    ``log`` receives the JVM's output. Raises ``RheostatError`` if the JVM does not start.
    Limitation: only the first session of a process can set JVM options.
    """
    builder = SparkSession.builder.master(master).appName(name)
    for option, value in options.items():
        builder = builder.config(option, value)
    with unchanged():
        if log is not None:
            settings = SparkConf().setAll([*options.items()]).setMaster(master).setAppName(name)
            SparkContext(conf=settings, gateway=_driver(settings, log))
        return builder.getOrCreate()


def _driver(settings: SparkConf, log: Path) -> Any:
    """Return the driver's JVM, which the first call starts; all calls share the first log."""
    if not _DRIVERS:
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with log.open("ab") as output:
                how = {"stdout": output, "stderr": STDOUT}
                _DRIVERS.append(launch_gateway(settings, popen_kwargs=how))
        except (OSError, RuntimeError) as failed:
            raise RheostatError(f"Spark's driver did not start ({failed}); see {log}") from failed
    return _DRIVERS[0]


QUIET = f"-Drheostat.log.level=off {LOG_SETTINGS}"
"""Options of a JVM whose log is off."""


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
        "spark.driver.extraJavaOptions": QUIET,
    }
    if master.startswith("local"):
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    session = start_session(master, {**options, **(more or {})}, name)
    try:
        yield session
    finally:
        session.stop()
