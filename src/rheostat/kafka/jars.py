"""JARs of Spark's Kafka source, fetched once with PySpark's Ivy."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.ivy import cached_jars
from rheostat.machine.scratch_folder import cache_folder as user_cache

# All other dependencies are in the PySpark wheel, and another copy of them may clash.
_SOURCE = """
    <dependency org="org.apache.spark" name="spark-sql-kafka-0-10_{scala}" rev="release()" conf="jars->default"/>
    <exclude module="^(?!spark-sql-kafka|spark-token-provider-kafka|kafka-clients|commons-pool2).*" matcher="regexp"/>
    <override org="org.apache.spark" module="spark-token-provider-kafka-0-10_{scala}" rev="release()"/>"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class SourceJars:
    """Spark's Kafka source: JARs, version, and a note if that is not PySpark's version."""

    paths: tuple[Path, ...]
    version: str
    note: str | None = None


def source_jars(spark_version: str | None = None) -> SourceJars:
    """Return the JARs of Spark's Kafka source, cached, for a Spark version (default: PySpark's).

    That version, or the newest older one of the same major. Raises ``BadInput`` for an invalid
    version or without cache and network.
    """
    wanted = spark_version or pyspark_version()
    major, *_ = numbers = _numbers(wanted)
    # PySpark's wheels of 3.x are built with Scala 2.12, those of 4.x with 2.13.
    scala = "2.12" if major == 3 else "2.13"
    folder, dependencies = cache_folder() / f"source-{wanted}", _SOURCE.format(scala=scala)
    paths = cached_jars(folder, "the Kafka source", dependencies, up_to(*numbers))
    version = next(
        match[1]
        for path in paths
        if (match := re.fullmatch(r"spark-sql-kafka-0-10_.*-(\d+\.\d+\.\d+)\.jar", path.name))
    )
    note = (
        None
        if version == wanted
        else (
            f"Spark's Kafka source {wanted} is not available, so {version} is used, the newest"
            " older version"
        )
    )
    return SourceJars(paths, version, note)


def pyspark_version() -> str:
    """Return the version of the installed PySpark without importing it."""
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        raise BadInput("PySpark is not installed; install pyspark 3.5 to 4.3") from None


def up_to(major: int, minor: int, patch: int) -> str:
    """Return a regular expression for the releases from major.0.0 up to a version."""
    minors = "|".join(map(str, range(minor)))
    patches = "|".join(map(str, range(patch + 1)))
    # Ivy has no "at most", so the versions below are listed.
    older = rf"(?:{minors})\.\d+|" if minors else ""
    return rf"{major}\.(?:{older}{minor}\.(?:{patches}))"


def cache_folder() -> Path:
    """Return the folder of the JARs: ``rheostat/jars`` in XDG_CACHE_HOME, or in ``~/.cache``."""
    return user_cache() / "jars"


def _numbers(version: str) -> tuple[int, int, int]:
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    if not match or not (3, 5) <= (int(match[1]), int(match[2])) < (5, 0):
        raise BadInput(f"Spark {version} is not supported; it must be 3.5 to 4.3")
    return int(match[1]), int(match[2]), int(match[3])
