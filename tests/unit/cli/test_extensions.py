"""Commands of other distributions on the command line."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import typer
from typer.main import get_command

from rheostat.cli.extensions import GROUP, extend


def entry(name: str, value: str = "json:dumps") -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


def names(app: typer.Typer) -> list[str | None]:
    return [command.name for command in app.registered_commands]


def test_a_command_goes_to_the_group_that_its_name_says():
    top, simulate = typer.Typer(), typer.Typer()
    assert extend({"": top, "simulate": simulate}, [entry("simulate.extra"), entry("other")]) == ()
    assert (names(simulate), names(top)) == (["extra"], ["other"])


def test_one_that_cannot_be_added_is_told_and_takes_no_other_away():
    top = typer.Typer()
    found = [entry("nowhere.extra"), entry("broken", "no_such_package:main"), entry("other")]
    assert extend({"": top}, found) == ("nowhere.extra", "broken")
    assert names(top) == ["other"]


def test_the_laboratory_adds_its_commands():
    from rheostat.cli.app import application

    commands = get_command(application()).commands["simulate"].commands  # type: ignore[attr-defined]
    added = {found.name for found in entry_points(group=GROUP)}
    assert added >= {"simulate.thesis", "simulate.compare"}
    assert commands.keys() >= {"thesis", "compare"}
