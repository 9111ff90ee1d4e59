"""Commands of other distributions on the command line."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.main import get_command

from rheostat.cli.app import GROUP, OF_LAB, add_missing, application, extend, installed
from rheostat.errors import BadInput


def entry(name: str, value: str = "json:dumps") -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


def names(app: typer.Typer) -> list[str | None]:
    return [command.name for command in app.registered_commands]


def test_a_command_is_added_to_the_group_in_its_name():
    top, state = typer.Typer(), typer.Typer()
    top.add_typer(state, name="state")
    assert extend(top, [entry("state.extra"), entry("other"), entry("simulate.more")]) == ()
    assert (names(state), names(top)) == (["extra"], ["other"])
    simulate = top.registered_groups[1]
    assert simulate.name == "simulate"
    assert simulate.typer_instance
    assert names(simulate.typer_instance) == ["more"]


def test_a_command_that_cannot_be_added_is_reported_and_the_others_remain():
    top = typer.Typer()
    entries = [entry("nowhere.extra"), entry("broken", "no_such_package:main"), entry("other")]
    assert extend(top, entries) == ("nowhere.extra", "broken")
    assert names(top) == ["other"]


@pytest.mark.parametrize("command", ["demo --query q1", "simulate queue --runs 2", "lab", "lab -h"])
def test_without_the_lab_package_its_commands_name_it(command: str) -> None:
    top = typer.Typer()
    top.command("run")(lambda: None)
    add_missing(top, OF_LAB)
    with pytest.raises(BadInput, match="comes with the package rheostat-lab, "):
        top(command.split(), standalone_mode=False)


def test_an_installed_lab_command_is_not_replaced():
    top = typer.Typer()
    extend(top, installed())
    before = names(top), len(top.registered_groups)
    add_missing(top, OF_LAB)
    assert (names(top), len(top.registered_groups)) == before


def test_the_lab_package_adds_its_commands():
    commands = get_command(application()).commands  # type: ignore[attr-defined]
    assert "demo" in commands
    assert commands["simulate"].commands.keys() >= {"thesis", "compare", "sweep", "queue"}
    assert commands["lab"].commands.keys() == {"run"}


def test_a_single_group_contains_only_its_commands():
    assert {entry.name.partition(".")[0] for entry in installed("simulate")} == {"simulate"}
    assert [entry.name for entry in installed("demo")] == ["demo"]
