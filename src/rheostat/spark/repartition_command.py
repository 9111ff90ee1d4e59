"""The command that repartitions a running query's state, ready to be typed by the user."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rheostat.model import Observation
from rheostat.settings import Settings
from rheostat.spark.internals.internals import Internals
from rheostat.spark.sensing.query_shape import rescale_command, rescaling_means
from rheostat.state.proposed_count import Command

UNKNOWN = "CHECKPOINT"


def partitions_command(
    spark: Any, internals: Internals | None, settings: Settings, journal: Path
) -> Command:
    """Return a function that returns the command: a restart for a supervised job, else a
    repartition of the stopped query's checkpoint, with its path if the session knows it. State of
    Spark 3.5 cannot be repartitioned, and that of 4.0 to 4.2 only by a newer PySpark.
    """

    def command(observation: Observation, number: int) -> str:
        means = rescaling_means(spark.version)
        if settings.restarts and means == "own":
            return f"rheostat restart {_quoted(journal)} --partitions {number}"
        checkpoint = (
            UNKNOWN if means == "none" else _checkpoint(spark, internals, observation.query)
        )
        line = rescale_command(means, checkpoint, number)
        return line if means == "none" else f"{line}, while the query is stopped"

    return command


def _checkpoint(spark: Any, internals: Internals | None, name: str | None) -> str:
    """Return the checkpoint of the query with that name, or of the only query."""
    active = list(spark.streams.active)
    named = [query for query in active if name in (query.name, str(query.id))] or active
    if internals is None or len(named) != 1:
        return UNKNOWN
    folder = internals.queries.state_folder(named[0])
    return UNKNOWN if folder is None else _quoted(Path(folder.removeprefix("file:")).parent)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
