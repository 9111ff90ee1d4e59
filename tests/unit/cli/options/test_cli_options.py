"""Option groups as options of a command, and a reader that closes the pipe."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
import typer
from typer.testing import CliRunner

from rheostat.cli.app import run
from rheostat.cli.options.options import takes


@dataclass(frozen=True, kw_only=True)
class Group:
    wait_s: float = field(default=2.5, metadata={"help": "how long it waits"})
    many: int = field(default=0, metadata={"help": "how many"})
    loud: bool = field(default=False, metadata={"help": "whether it is heard"})
    names: list[str] | None = field(
        default=None, metadata={"help": "whom it is for", "flag": "--for"}
    )
    room: int | None = field(default=None, metadata={"help": "how much fits", "least": 1})


app = typer.Typer()


@app.command()
@takes(group=Group)
def command(name: str, *, group: Group) -> None:
    """Print the arguments."""
    typer.echo(f"{name} {group}")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("x",), Group()),
        (("x", "--wait", "7"), Group(wait_s=7.0)),
        (("--many", "3", "x", "--loud"), Group(many=3, loud=True)),
        (("x", "--for", "a", "--for", "b", "--room", "2"), Group(names=["a", "b"], room=2)),
    ],
)
def test_the_fields_of_a_group_are_options_of_the_command(arguments, expected):
    assert CliRunner().invoke(app, arguments).output == f"x {expected}\n"


def test_a_value_below_the_least_is_refused():
    done = CliRunner().invoke(app, ["x", "--room", "0"])
    assert done.exit_code == 2
    assert "--room" in done.output


def test_the_help_is_that_of_the_dataclass():
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "How long it waits." in shown
    assert "2.5" in shown


def lines(capsys: pytest.CaptureFixture[str], *options: str) -> list[int]:
    assert (
        run(
            [
                "replay",
                "query-1_HPA_50",
                "--policy",
                "hpa",
                "--set",
                "metrics=cpu 0.3",
                "--max",
                "16",
                "--json",
                *options,
            ]
        )
        == 0
    )
    return [json.loads(line)["target"] for line in capsys.readouterr().out.splitlines()]


def test_a_replay_obeys_the_guards_that_are_asked_for(capsys):
    free, stepped = (
        lines(capsys, "--initial", "4"),
        lines(capsys, "--initial", "4", "--step-out", "1"),
    )
    assert max(late - early for early, late in pairwise(free)) > 1
    assert max(late - early for early, late in pairwise(stepped)) == 1
    assert set(lines(capsys, "--initial", "4", "--excluded", "00:00-24:00")) == {4}


@pytest.mark.parametrize("name", ["run", "replay", "demo"])
def test_a_guard_out_of_range_is_refused_by_every_command_that_has_them(capsys, tmp_path, name):
    (tmp_path / "app.py").write_text("")
    what = {
        "run": [str(tmp_path / "app.py")],
        "replay": ["query-1_HPA_50"],
        "demo": ["--out", str(tmp_path)],
    }[name]
    assert run([name, *what, "--step-out", "-2"]) == 2
    assert (
        capsys.readouterr().err
        == "rheostat: step limit out must be at least 1 executor, but it is -2\n"
    )


@pytest.mark.parametrize("arguments", [["replay", "query-1_HPA_50", "--json"], ["policies"]])
def test_a_reader_that_goes_away_is_no_failure_of_ours(arguments):
    command = [sys.executable, "-m", "rheostat.cli", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == ""
    assert program.returncode == 141
