"""The page of the simulator lists every parameter of the Spark plant correctly."""

import dataclasses
import re
from pathlib import Path

from rheostat.sim.spark.spark_parameters import SparkParameters

PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "simulator.md").read_text(
    encoding="utf-8"
)


def shown(value: object) -> str:
    named = {None: "none", True: "yes", False: "no"}
    return named[value] if value is None or isinstance(value, bool) else f"{value:g}"


def test_the_table_lists_every_parameter_with_default_unit_and_help() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
    fields = dataclasses.fields(SparkParameters)
    assert rows == [
        (
            parameter.name,
            shown(parameter.default),
            parameter.metadata["unit"],
            parameter.metadata["help"],
        )
        for parameter in fields
    ]
