"""The command in a decision limited by state partitions, for this Spark or a newer one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from rheostat.model import Observation
from rheostat.settings import Settings
from rheostat.spark.assembly import partitions_command

LIVE, SUPERVISED = Settings(), Settings(restarts=Path("restart"))


@pytest.mark.parametrize(
    ("spark", "settings", "command"),
    [
        ("4.3.0", SUPERVISED, "rheostat restart journal --partitions 8"),
        (
            "4.3.0",
            LIVE,
            "rheostat state repartition CHECKPOINT --partitions 8, while the query is stopped",
        ),
        (
            "4.2.0",
            SUPERVISED,
            "rheostat state repartition CHECKPOINT --partitions 8 of a Python with PySpark 4.3,"
            " while the query is stopped",
        ),
        (
            "3.5.7",
            SUPERVISED,
            "a first start, without a checkpoint, with spark.sql.shuffle.partitions=8",
        ),
    ],
)
def test_the_command_matches_the_spark_version(
    spark: str, settings: Settings, command: str
) -> None:
    session = SimpleNamespace(version=spark, streams=SimpleNamespace(active=[]))
    named = partitions_command(session, None, settings, Path("journal"))
    assert named(Observation(t_s=0.0), 8) == command
