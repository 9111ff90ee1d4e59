"""A PySpark session whose driver writes its log into a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from subprocess import STDOUT
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rheostat.errors import RheostatError
from rheostat.local.local_session import start_session
from rheostat.machine.orderly_end import unchanged

_DRIVERS: list[Any] = []
"""The JVM of this process that writes to our log; empty before it starts."""


def start_logged_session(
    master: str, options: Mapping[str, str], name: str, log: Path
) -> SparkSession:
    """Return a new session as ``start_session`` does; ``log`` receives the JVM's output.

    Raises ``RheostatError`` if the JVM does not start.
    """
    settings = SparkConf().setAll([*options.items()]).setMaster(master).setAppName(name)
    with unchanged():
        SparkContext(conf=settings, gateway=_driver(settings, log))
    return start_session(master, options, name)


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
