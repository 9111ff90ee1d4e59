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
    kept = sys.argv, list(sys.path), SparkSession.Builder.getOrCreate
    yield
    sys.argv, sys.path[:] = kept[0], kept[1]
    SparkSession.Builder.getOrCreate = kept[2]


class Nothing:
    """Sets no settings and observes nothing."""

    def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
        return {}

    def session(self, spark: Any) -> Any:
        return None


def ended(tmp_path: Path, text: str, *arguments: str) -> int:
    (tmp_path / "app.py").write_text(text)
    return run_script(tmp_path / "app.py", arguments, Nothing())


@pytest.mark.parametrize(
    ("text", "code", "said"),
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
def test_the_exit_code_is_the_script_s(tmp_path, capsys, text, code, said):
    assert ended(tmp_path, text) == code
    assert capsys.readouterr().err == said


def test_an_exception_is_shown_from_the_script_s_own_first_line_on(tmp_path, capsys):
    assert ended(tmp_path, "def deep():\n    return 1 / 0\ndeep()\n") == 1
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "Traceback (most recent call last):"
    assert shown[1].strip() == f'File "{tmp_path / "app.py"}", line 3, in <module>'
    assert shown[-1] == "ZeroDivisionError: division by zero"
    assert not any("rheostat/spark" in line or "runpy" in line for line in shown)


def test_a_script_that_is_no_python_is_its_own_error(tmp_path, capsys):
    assert ended(tmp_path, "1 +") == 1
    assert "SyntaxError" in capsys.readouterr().err


def test_the_script_is_the_main_program_with_its_own_arguments_and_neighbours(tmp_path, capsys):
    (tmp_path / "neighbour_of_app.py").write_text("name = 'neighbour'")
    text = "import sys, neighbour_of_app as n\nprint(__name__, sys.argv[1:], n.name)"
    assert ended(tmp_path, text, "--my", "7") == 0
    assert capsys.readouterr().out == "__main__ ['--my', '7'] neighbour\n"


def test_a_script_without_a_session_is_told_so(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        assert ended(tmp_path, "") == 0
    assert [NO_SESSION in message for message in caplog.messages] == [True]


def test_a_script_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="there is no script"):
        run_script(tmp_path / "app.py", (), Nothing())


class Ending:
    def __init__(self, name: str, ends: list[str]) -> None:
        self.name, self.ends = name, ends
        self.sparkContext = self
        self.applicationId = "app-1"

    def stop(self) -> None:
        self.ends.append(self.name)


def test_what_watches_is_stopped_before_the_session_that_the_script_left_open(
    tmp_path, monkeypatch
):
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


def test_what_keeps_an_application_from_starting_is_no_fault_of_the_script(tmp_path, caplog):
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


def test_an_error_of_ours_that_the_script_itself_meets_is_its_own(tmp_path, capsys):
    text = "from rheostat import BadInput\nraise BadInput('no such policy')"
    assert ended(tmp_path, text) == 1
    assert "BadInput: no such policy" in capsys.readouterr().err
