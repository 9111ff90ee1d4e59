"""A user's own policy on recordings: it is imported, created, and its errors take one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rheostat.cli.app import run

OWN = """
from rheostat import Decision

class Own:
    def __init__(self, size: int, answer="decision"):
        self.size, self.answer = size, answer

    def decide(self, observation, memory):
        if self.answer == "fault":
            return 1 / 0
        if self.answer == "number":
            return self.size
        return Decision(target=self.size, reason="own"), memory
"""


@pytest.fixture(autouse=True)
def restored_modules() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("own_"):
            del sys.modules[name]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded"
    folder.mkdir()
    file = folder / "a.csv"
    rows = "".join(f"{5 * n},2,100.0,10\n" for n in range(4))
    file.write_text(f"t_s,executors,input_rows_per_s,lag_rows\n{rows}")
    return file


def _own(folder: Path, name: str) -> str:
    (folder / f"{name}.py").write_text(OWN)
    return f"{name}:Own"


def test_a_policy_in_the_current_folder_or_next_to_the_recording_is_loaded(
    tmp_path: Path,
    recording: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    here, beside = _own(tmp_path, "own_here"), _own(recording.parent, "own_beside")
    for policy in (here, beside):
        given = ["replay", str(recording), "--policy", policy, "--set", "size=3", "--json"]
        assert run(given) == 0
        decisions = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [decision["target"] for decision in decisions] == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["size=3", "answer=fault"], "policy own_a:Own failed at 0 s: ZeroDivisionError: division"),
        (["size=3", "answer=number"], "policy own_a:Own must return a Decision and what it"),
        ([], "policy own_a:Own needs a value for size; it has size, answer"),
        (["size=much"], "size of policy own_a:Own must be of type int, but it is 'much'"),
        (["shape=3"], "policy own_a:Own has no parameter 'shape'; it has size, answer"),
    ],
)
def test_a_failure_of_a_user_policy_is_one_line_with_its_name(
    recording: Path, given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = _own(recording.parent, "own_a")
    options = [part for parameter in given for part in ("--set", parameter)]
    assert run(["replay", str(recording), "--policy", policy, *options]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert message in shown.err
    assert "Traceback" not in shown.err
