"""Which Spark versions can repartition the state of a stopped query."""

from __future__ import annotations

import re
from typing import Literal

Means = Literal["own", "newer", "none"]
_RESCALES, _RESCALED = (4, 3), (4, 0)


def rescaling_means(spark_version: str) -> Means:
    """Return which Spark repartitions the state of a query that ran on this version, such as
    ``4.2.1``: its ``own``, only a ``newer`` one, or ``none``: before 4.0 a checkpoint does not
    describe its operators.
    """
    major, minor, *_ = map(int, re.findall(r"\d+", spark_version))
    if (major, minor) < _RESCALED:
        return "none"
    return "own" if (major, minor) >= _RESCALES else "newer"


def rescale_command(means: Means, checkpoint: str, partitions: int) -> str:
    """Return the command that repartitions a stopped query, and the Python that it needs if that is
    another one; the alternative if there is no such command.
    """
    if means == "none":
        return (
            f"a first start, without a checkpoint, with spark.sql.shuffle.partitions={partitions}"
        )
    command = f"rheostat state repartition {checkpoint} --partitions {partitions}"
    return command if means == "own" else f"{command} of a Python with PySpark 4.3"
