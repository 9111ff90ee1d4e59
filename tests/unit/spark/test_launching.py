"""A script as the main program, and its exit."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rheostat.errors import BadInput, RheostatError
from rheostat.spark.launching import run_script

NO_SESSION = "the script created no session"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Restore what a script may change in its own process."""
    original = sys.argv, list(sys.path), SparkSession.Builder.getOrCreate
    yield
    sys.argv, sys.path[:] = original[0], original[1]
    SparkSession.Builder.getOrCreate = original[2]


class Nothing:
    """Sets no settings and observes nothing."""

    def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
        return {}

    def session(self, spark: Any) -> Any:
        return None


def exit_code_of(tmp_path: Path, text: str, *arguments: str) -> int:
    (tmp_path / "app.py").write_text(text)
    return run_script(tmp_path / "app.py", arguments, Nothing())


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", 0, ""),
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit(0)", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit(True)", 1, ""),
        ("import sys; sys.exit('out of bids')", 1, "out of bids\n"),
        ("raise KeyboardInterrupt", 130, ""),
    ],
)
def test_the_exit_code_of_the_script_is_returned(tmp_path, capsys, text, code, message):
    assert exit_code_of(tmp_path, text) == code
    assert capsys.readouterr().err == message


def test_a_traceback_starts_at_the_scripts_own_first_line(tmp_path, capsys):
    assert exit_code_of(tmp_path, "def deep():\n    return 1 / 0\ndeep()\n") == 1
    error_lines = capsys.readouterr().err.splitlines()
    assert error_lines[0] == "Traceback (most recent call last):"
    assert error_lines[1].strip() == f'File "{tmp_path / "app.py"}", line 3, in <module>'
    assert error_lines[-1] == "ZeroDivisionError: division by zero"
    assert not any("rheostat/spark" in line or "runpy" in line for line in error_lines)


def test_a_syntax_error_is_reported_as_the_scripts_own(tmp_path, capsys):
    assert exit_code_of(tmp_path, "1 +") == 1
    assert "SyntaxError" in capsys.readouterr().err


def test_the_script_runs_as_main_program_with_its_arguments_and_modules(tmp_path, capsys):
    (tmp_path / "neighbour_of_app.py").write_text("name = 'neighbour'")
    text = "import sys, neighbour_of_app as n\nprint(__name__, sys.argv[1:], n.name)"
    assert exit_code_of(tmp_path, text, "--my", "7") == 0
    assert capsys.readouterr().out == "__main__ ['--my', '7'] neighbour\n"


def test_a_script_without_a_session_is_reported(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        assert exit_code_of(tmp_path, "") == 0
    assert [NO_SESSION in message for message in caplog.messages] == [True]


def test_a_missing_script_is_rejected(tmp_path):
    with pytest.raises(BadInput, match="there is no script"):
        run_script(tmp_path / "app.py", (), Nothing())


class Ending:
    def __init__(self, name: str, ends: list[str]) -> None:
        self.name, self.ends = name, ends
        self.sparkContext = self
        self.applicationId = "app-1"

    def stop(self) -> None:
        self.ends.append(self.name)


def test_the_observer_stops_before_the_session_that_the_script_left_open(tmp_path, monkeypatch):
    ends: list[str] = []

    class Watched(Nothing):
        def session(self, spark: Any) -> Any:
            return Ending("watching", ends)

    SparkSession.Builder.getOrCreate = lambda _: Ending("session", ends)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: Ending("session", ends))
    (tmp_path / "app.py").write_text(
        "from pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate()\nraise"
        " SystemExit(143)"
    )
    assert run_script(tmp_path / "app.py", (), Watched()) == 143
    assert ends == ["watching", "session"]


def test_a_startup_failure_is_not_attributed_to_the_script(tmp_path, caplog):
    class Broken(Nothing):
        def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
            raise RheostatError("no cluster starts here")

    (tmp_path / "app.py").write_text("from pyspark import SparkContext\nSparkContext()")
    with (
        caplog.at_level(logging.WARNING, logger="rheostat"),
        pytest.raises(RheostatError, match="no cluster starts here"),
    ):
        run_script(tmp_path / "app.py", (), Broken())
    assert not caplog.messages


def test_a_rheostat_error_raised_by_the_script_is_its_own(tmp_path, capsys):
    text = "from rheostat import BadInput\nraise BadInput('no such policy')"
    assert exit_code_of(tmp_path, text) == 1
    assert "BadInput: no such policy" in capsys.readouterr().err
