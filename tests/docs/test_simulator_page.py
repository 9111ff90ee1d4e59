"""The page of the simulator links to a table of all parameters of the Spark plant."""

import csv
import dataclasses
from pathlib import Path

from rheostat.sim.spark.spark_parameters import SparkParameters

FOLDER = Path(__file__).parents[2] / "docs" / "concepts"


def shown(value: object) -> str:
    named = {None: "none", True: "yes", False: "no"}
    return named[value] if value is None or isinstance(value, bool) else f"{value:g}"


def test_the_table_lists_every_parameter_with_default_unit_and_help() -> None:
    assert "(spark-plant.csv)" in (FOLDER / "simulator.md").read_text(encoding="utf-8")
    with (FOLDER / "spark-plant.csv").open(encoding="utf-8", newline="") as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert rows == [
        (
            parameter.name,
            shown(parameter.default),
            parameter.metadata["unit"],
            parameter.metadata["help"],
        )
        for parameter in dataclasses.fields(SparkParameters)
    ]
