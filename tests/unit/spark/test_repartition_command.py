"""The command in a decision limited by state partitions, for this Spark or a newer one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


@pytest.mark.parametrize(
    ("checkpoint", "named"),
    [("file:/c/a b", "'/c/a b'"), ("hdfs://n:1/c", "hdfs://n:1/c"), (None, "CHECKPOINT")],
)
def test_the_command_names_the_checkpoint_of_the_only_query(
    checkpoint: str | None, named: str
) -> None:
    query = SimpleNamespace(name="etl", id="1")
    session = SimpleNamespace(version="4.3.0", streams=SimpleNamespace(active=[query]))
    internals: Any = SimpleNamespace(queries=SimpleNamespace(checkpoint=lambda _: checkpoint))
    command = partitions_command(session, internals, LIVE, Path("journal"))
    start = f"rheostat state repartition {named} --partitions 8"
    assert command(Observation(t_s=0.0, query="etl"), 8).startswith(start)
