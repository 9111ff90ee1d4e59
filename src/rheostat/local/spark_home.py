"""The Spark in the installed PySpark package, and how to start its programs without a shell."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.free_ports import LOOPBACK
from rheostat.machine.jdk import Jdk, find_jdk

# Master and worker are almost always idle: one garbage-collection thread, only the fast compiler.
DAEMON_OPTIONS = (
    "-Xmx256m",
    "-Xms32m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
)
_OPENED = (
    "java.lang",
    "java.lang.invoke",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "sun.nio.ch",
)


@dataclass(frozen=True, slots=True)
class SparkHome:
    """A Spark installation: folder, Scala version (``2.13``), version, and its Java."""

    folder: Path
    version: str
    scala: str
    jdk: Jdk

    def daemon(self, main: str, *arguments: str) -> list[str]:
        """Return the command that runs a small Spark daemon; it logs to standard error."""
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        # The master's REST submission server would open an unwanted port.
        properties = [
            "-Dspark.master.rest.enabled=false",
            "-Dspark.worker.cleanup.enabled=false",
            "-Djava.io.tmpdir=.",  # the working folder, which is removed with the cluster
        ]
        return [
            str(self.jdk.java),
            *DAEMON_OPTIONS,
            *opened,
            *properties,
            "-cp",
            f"{self.folder / 'jars'}/*",
            main,
            *arguments,
        ]

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment of daemons and executors: loopback, files in ``folder``."""
        return {
            **driver_environment(self.jdk, folder / "local"),
            "SPARK_HOME": str(self.folder),
            "SPARK_SCALA_VERSION": self.scala,
            "SPARK_PUBLIC_DNS": LOOPBACK,
            # On the class path: missing or empty, as files would invalidate a class archive.
            "SPARK_CONF_DIR": str(self.folder / "conf"),
        }


def driver_environment(jdk: Jdk, folder: Path) -> dict[str, str]:
    """Return a PySpark driver's environment: this Java and Python, loopback, ``folder``."""
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return {
        "JAVA_HOME": str(jdk.home),
        "PYSPARK_PYTHON": python,
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_DIRS": str(folder),
    }


def pyspark_folders() -> list[Path]:
    """Return the folders of the installed PySpark; usually one, none without it."""
    spec = importlib.util.find_spec("pyspark")
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


def find_spark_home() -> SparkHome:
    """Return the installed PySpark's Spark; raises ``BadInput`` without it or a suitable Java."""
    for folder in pyspark_folders():
        for core in folder.glob("jars/spark-core_*.jar"):
            scala, _, version = core.stem.partition("_")[2].partition("-")
            return SparkHome(folder.resolve(), version, scala, find_jdk())
    raise BadInput(
        "a full PySpark is needed, JARs included, but none is installed; pip install pyspark (not"
        " pyspark-client), 3.5 to 4.3"
    )
