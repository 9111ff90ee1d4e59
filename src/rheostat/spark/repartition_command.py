"""The command that gives a running query other state partitions, as the user can type it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rheostat.model import Observation
from rheostat.rescaling.partition_bound import Command
from rheostat.spark.internals.internals import Internals
from rheostat.spark.settings import Settings

UNKNOWN = "CHECKPOINT"


def partitions_command(
    spark: Any, internals: Internals | None, settings: Settings, journal: Path
) -> Command:
    """Return what names the command: of a supervised job a restart, else a rescale of the stopped
    query's checkpoint, which is named where the session tells it.
    """
    if settings.restarts:
        return lambda _, number: f"rheostat restart {_word(journal)} --partitions {number}"

    def rescale(observation: Observation, number: int) -> str:
        found = _checkpoint(spark, internals, observation.query)
        return f"rheostat state rescale {found} --partitions {number}, while the query is stopped"

    return rescale


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
