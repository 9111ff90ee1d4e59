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
from rheostat.cli.options import takes


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
def test_the_fields_of_a_group_become_command_options(arguments, expected):
    assert CliRunner().invoke(app, arguments).output == f"x {expected}\n"


def test_a_value_below_the_minimum_is_rejected():
    done = CliRunner().invoke(app, ["x", "--room", "0"])
    assert done.exit_code == 2
    assert "--room" in done.output


def test_the_help_text_comes_from_the_dataclass():
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


def test_a_replay_applies_the_requested_guards(capsys):
    free, stepped = (
        lines(capsys, "--initial", "4"),
        lines(capsys, "--initial", "4", "--step-out", "1"),
    )
    assert max(late - early for early, late in pairwise(free)) > 1
    assert max(late - early for early, late in pairwise(stepped)) == 1
    assert set(lines(capsys, "--initial", "4", "--excluded", "00:00-24:00")) == {4}


@pytest.mark.parametrize("name", ["run", "replay", "demo"])
def test_every_command_with_guards_rejects_values_out_of_range(capsys, tmp_path, name):
    (tmp_path / "app.py").write_text("")
    required = {
        "run": [str(tmp_path / "app.py")],
        "replay": ["query-1_HPA_50"],
        "demo": ["--out", str(tmp_path)],
    }[name]
    assert run([name, *required, "--step-out", "-2"]) == 2
    assert (
        capsys.readouterr().err
        == "rheostat: step limit out must be at least 1 executor, but it is -2\n"
    )


@pytest.mark.parametrize("arguments", [["replay", "query-1_HPA_50", "--json"], ["policies"]])
def test_a_closed_output_pipe_is_not_reported_as_a_failure(arguments):
    command = [sys.executable, "-m", "rheostat.cli", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == ""
    assert program.returncode == 141
