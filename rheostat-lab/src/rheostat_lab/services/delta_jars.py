"""JARs and settings of Delta for Spark, fetched once."""

from __future__ import annotations

from pathlib import Path

from rheostat.errors import BadInput
from rheostat.kafka.jars import cache_folder, pyspark_version
from rheostat.machine.ivy import cached_jars

DELTA = "4.4.0"
SPARKS = ("4.0", "4.1", "4.2")
"""The versions of Spark for which this Delta is published."""

_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
DELTA_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": _CATALOG,
    "spark.databricks.delta.snapshotPartitions": "1",
}
"""Without the last setting, reading the log of a table takes 50 tasks."""


def delta_jars() -> tuple[Path, ...]:
    """Return the JARs of Delta for the installed PySpark, cached; raises ``BadInput`` where there
    is no Delta for it, and without cache and network.
    """
    spark = ".".join(pyspark_version().split(".")[:2])
    if spark not in SPARKS:
        raise BadInput(
            f"there is no Delta for Spark {spark}: Delta {DELTA} needs {SPARKS[0]} to {SPARKS[-1]};"
            " install 'pyspark==4.2.*' in a separate environment"
        )
    element = (
        f'<dependency org="io.delta" name="delta-spark_{spark}_2.13" rev="{DELTA}"'
        ' conf="jars->default"/><exclude module="^(?!delta-).*" matcher="regexp"/>'
    )
    return cached_jars(cache_folder() / f"delta-{DELTA}-{spark}", "Delta", element)
