"""Which Spark can give the state of a stopped query another number of partitions."""

from __future__ import annotations

import re
from typing import Literal

Means = Literal["own", "newer", "none"]
_RESCALES, _RESCALED = (4, 3), (4, 0)


def rescaling_means(spark_version: str) -> Means:
    """Return what rescales the state of a query of this Spark, such as ``4.2.1``: this ``own``
    Spark, only a ``newer`` one, or ``none``: before 4.0 a checkpoint does not describe its
    operators.
    """
    major, minor, *_ = map(int, re.findall(r"\d+", spark_version))
    if (major, minor) < _RESCALED:
        return "none"
    return "own" if (major, minor) >= _RESCALES else "newer"


def rescale_command(means: Means, checkpoint: str, partitions: int) -> str:
    """Return the command for a stopped query, and in which Python it works; what to do instead
    where there is none.
    """
    if means == "none":
        return (
            f"a first start, without a checkpoint, with spark.sql.shuffle.partitions={partitions}"
        )
    command = f"rheostat state repartition {checkpoint} --partitions {partitions}"
    return command if means == "own" else f"{command} of a Python with PySpark 4.3"
