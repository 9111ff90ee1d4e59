from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rheostat.errors import BadInput
from rheostat.spark.launch import _hook, master_of_environment, run_script, submit_arguments

NO_SESSION = "the script made no session"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Puts back what a script's own process is allowed to keep."""
    kept = sys.argv, list(sys.path), dict(os.environ), SparkSession.Builder.getOrCreate
    yield
    sys.argv, sys.path[:] = kept[0], kept[1]
    os.environ.clear()
    os.environ.update(kept[2])
    SparkSession.Builder.getOrCreate = kept[3]


def ended(tmp_path: Path, text: str, *arguments: str) -> int:
    (tmp_path / "app.py").write_text(text)
    return run_script(tmp_path / "app.py", arguments, {}, lambda _: None)


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
        run_script(tmp_path / "app.py", (), {}, lambda _: None)


def test_options_go_before_those_of_the_environment_and_survive_quoting():
    options = {"spark.b": "-Da=1 -Db='x y'", "spark.a": "$HOME"}
    words = shlex.split(submit_arguments(options, "--master yarn pyspark-shell"))
    assert words == [
        "--conf",
        "spark.a=$HOME",
        "--conf",
        "spark.b=-Da=1 -Db='x y'",
        "--master",
        "yarn",
        "pyspark-shell",
    ]
    assert submit_arguments({}) == "pyspark-shell"


@pytest.mark.parametrize(
    ("arguments", "master"),
    [
        (None, None),
        ("pyspark-shell", None),
        ("--master yarn pyspark-shell", "yarn"),
        ("--conf a=b --conf spark.master=k8s://x pyspark-shell", "k8s://x"),
    ],
)
def test_the_master_of_the_environment_is_found(tmp_path, monkeypatch, arguments, master):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    if arguments:
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert master_of_environment() == master


@pytest.mark.parametrize(
    ("line", "master"),
    [
        ("spark.master  spark://a:1", "spark://a:1"),
        ("spark.master=yarn", "yarn"),
        ("# spark.master x", None),
        ("spark.master.rest.enabled true", None),
    ],
)
def test_the_master_of_the_defaults_file_is_found(tmp_path, monkeypatch, line, master):
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text(f"spark.app.name x\n{line}\n")
    assert master_of_environment() == master


def sessions(made: list[Any]) -> None:
    """Let ``getOrCreate`` hand out the given objects."""
    SparkSession.Builder.getOrCreate = lambda _: made.pop(0)


def test_the_hook_is_told_of_the_first_session_only():
    sessions(["first", "second"])
    told: list[Any] = []
    _hook(told.append)
    assert [SparkSession.builder.getOrCreate() for _ in range(2)] == ["first", "second"]
    assert told == ["first"]


def test_what_watches_is_stopped_before_the_session_that_the_script_left_open(
    tmp_path, monkeypatch
):
    ends: list[str] = []

    class Ending:
        def __init__(self, name: str) -> None:
            self.name = name

        def stop(self) -> None:
            ends.append(self.name)

    sessions([Ending("session")])
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: Ending("session"))
    (tmp_path / "app.py").write_text(
        "from pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate()\nraise"
        " SystemExit(143)"
    )
    assert run_script(tmp_path / "app.py", (), {}, lambda _: Ending("watching")) == 143
    assert ends == ["watching", "session"]


@pytest.mark.parametrize("fault", [BadInput("no such thing"), ValueError("a fault of ours")])
def test_a_hook_that_fails_leaves_the_script_alone(fault, caplog):
    def fail(_: Any) -> None:
        raise fault

    sessions(["first"])
    _hook(fail)
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        assert SparkSession.builder.getOrCreate() == "first"
    assert len(caplog.messages) == 1
    assert "not attached, the job runs on as it is" in caplog.messages[0]
    assert str(fault) in caplog.messages[0]
