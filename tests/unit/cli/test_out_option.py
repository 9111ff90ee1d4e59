"""``--out`` may replace only the regular file that it names, or a folder that Rheostat created."""

from __future__ import annotations

import pytest

from rheostat.cli.app import run

COMMANDS = [
    ("policies", "hpa", "--json"),
    ("doctor", "--json"),
    ("simulate", "queue", "--json"),
    ("simulate", "bench", "--json"),
    ("simulate", "demand", "--json"),
]


def run_command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run([str(argument) for argument in arguments])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_folder_as_out_is_rejected_before_any_computation(command, tmp_path, capsys):
    (tmp_path / "mine").write_text("mine")
    assert run_command(capsys, *command, "--out", tmp_path) == (
        2,
        f"rheostat: {tmp_path} is a folder; name a file\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_file_named_by_out_is_replaced(tmp_path, capsys):
    (tmp_path / "told.json").write_text("old")
    assert run_command(capsys, "policies", "hpa", "--json", "--out", tmp_path / "told.json") == (
        0,
        "",
    )
    assert (tmp_path / "told.json").read_text() != "old"
    assert [path.name for path in tmp_path.iterdir()] == ["told.json"]


def test_the_demo_does_not_touch_a_folder_of_the_user(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("years")
    code, line = run_command(capsys, "demo", "--out", tmp_path)
    assert code == 2
    assert line == (
        f"rheostat: --out {tmp_path} holds thesis.tex, and Rheostat did not make this folder; name"
        " a new or an empty one\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_demo_rejects_a_file_as_out(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    code, line = run_command(capsys, "demo", "--out", tmp_path / "file")
    assert (code, line) == (2, f"rheostat: --out {tmp_path / 'file'} is a file; name a folder\n")
