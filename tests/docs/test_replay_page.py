"""The page on replay names every column of a recording, and maps the thesis' columns correctly."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

from rheostat.cli.app import application
from rheostat.model import Observation
from rheostat.replay.tables import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "replay.md").read_text(encoding="utf-8")


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


def test_every_field_of_an_observation_is_a_column_of_the_page():
    assert sorted(name for row in rows("The columns") for name in names(row[0])) == sorted(
        field.name for field in fields(Observation)
    )


def test_the_map_of_the_thesis_is_the_one_of_the_code():
    told = {names(row[0])[0]: tuple(names(row[1])) for row in rows("The thesis") if names(row[1])}
    assert told == COLUMNS


@pytest.mark.parametrize("command", ["replay", "policies", "explain"])
def test_every_command_shows_an_example_in_its_help(command):
    found = get_command(application()).commands[command]  # type: ignore[attr-defined]
    assert "Example: rheostat " + command in found.help


def test_every_option_of_replay_is_on_the_page():
    options = {
        name
        for option in get_command(application()).commands["replay"].params  # type: ignore[attr-defined]
        for name in option.opts
        if name.startswith("--")
    }
    assert {
        name for name in options if f"`{name}" not in PAGE and f", `{name}" not in PAGE
    } == set()
