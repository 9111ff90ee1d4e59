"""The command that gives a running query other state partitions, as the user can type it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from rheostat.model import Observation
from rheostat.rescaling.partition_bound import Command
from rheostat.spark.internals.internals import Internals
from rheostat.spark.settings import Settings

UNKNOWN = "CHECKPOINT"
RESCALES = (4, 3)
"""The first Spark that can rescale state."""

RESCALED = (4, 0)
"""The first Spark whose state can be rescaled."""


def partitions_command(
    spark: Any, internals: Internals | None, settings: Settings, journal: Path
) -> Command:
    """Return what names the command: of a supervised job a restart, else a rescale of the stopped
    query's checkpoint, which is named where the session tells it. State of Spark 3.5 cannot be
    rescaled, and that of 4.0 to 4.2 only by a newer PySpark.
    """

    def command(observation: Observation, number: int) -> str:
        major, minor, *_ = map(int, re.findall(r"\d+", spark.version))
        version = (major, minor)
        if version < RESCALED:
            return (
                f"a first start, without a checkpoint, with spark.sql.shuffle.partitions={number}"
            )
        if settings.restarts and version >= RESCALES:
            return f"rheostat restart {_word(journal)} --partitions {number}"
        by = "" if version >= RESCALES else " of a Python with PySpark 4.3"
        found = _checkpoint(spark, internals, observation.query)
        line = f"rheostat state rescale {found} --partitions {number}"
        return f"{line}{by}, while the query is stopped"

    return command


def _checkpoint(spark: Any, internals: Internals | None, name: str | None) -> str:
    """Return the checkpoint of the query of that name, or of the only one there is."""
    active = list(spark.streams.active)
    named = [each for each in active if name in (each.name, str(each.id))] or active
    if internals is None or len(named) != 1:
        return UNKNOWN
    folder = internals.queries.state_folder(named[0])
    return UNKNOWN if folder is None else _word(Path(folder.removeprefix("file:")).parent)


def _word(path: Path) -> str:
    return shlex.quote(str(path))
