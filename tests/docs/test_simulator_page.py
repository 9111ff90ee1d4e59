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


def test_the_table_has_every_parameter_with_its_default_unit_and_help() -> None:
    told = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
    fields = dataclasses.fields(SparkParameters)
    assert told == [
        (each.name, shown(each.default), each.metadata["unit"], each.metadata["help"])
        for each in fields
    ]
