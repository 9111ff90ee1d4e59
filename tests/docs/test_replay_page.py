"""The reference has every column of a recording; the page on replay maps those of the thesis."""

import csv
import re
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

from rheostat.cli.app import application
from rheostat.model import Observation
from rheostat.replay.tables import COLUMNS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guides" / "replay.md").read_text(encoding="utf-8")
REFERENCE = DOCS / "reference" / "journal-and-recordings.csv"


def rows(heading: str) -> list[list[str]]:
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    text = next(part for part in section if part.startswith(heading))
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_the_reference_lists_the_fields_of_an_observation():
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        listed = [row["field"] for row in csv.DictReader(file) if row["object"] == "Observation"]
    assert listed == [field.name for field in fields(Observation)]
    assert "(../reference/journal-and-recordings.csv)" in PAGE


def test_the_column_mapping_matches_the_code():
    mapped = {names(row[0])[0]: tuple(names(row[1])) for row in rows("The thesis")}
    assert {name: columns for name, columns in mapped.items() if columns} == COLUMNS


@pytest.mark.parametrize("command", ["replay", "policies", "explain"])
def test_every_command_shows_an_example_in_its_help(command):
    shown = get_command(application()).commands[command]  # type: ignore[attr-defined]
    assert "Example: rheostat " + command in shown.help
