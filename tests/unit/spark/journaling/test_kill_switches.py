"""The kill switch in a checkpoint, and what is done beside the ticks."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from rheostat.cli.app import run
from rheostat.spark.journaling.errands import Errands
from rheostat.spark.journaling.kill_switches import HALT_FILE, KillSwitches


def test_a_file_in_the_checkpoint_of_any_query_is_seen_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    there: set[str] = set()
    switches = KillSwitches(lambda: ["hdfs://n/one", "hdfs://n/two"], there.__contains__)
    switches.look()
    assert not switches.pulled()
    there.add(f"hdfs://n/two/{HALT_FILE}")
    for _ in range(2):
        switches.look()
    assert switches.pulled()
    assert caplog.messages == [
        "rheostat: hdfs://n/two/_rheostat/halt is there: nothing is decided any more"
    ]


def test_an_errand_that_fails_is_said_once_and_the_others_are_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []
    broken = [True]

    def fails() -> None:
        if broken[0]:
            raise OSError("connection refused")

    errands = Errands({"the journal": fails, "other": lambda: done.append("other")}, 60.0)
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        for _ in range(3):
            errands.turn()
        broken[0] = False
        errands.turn()
    assert done == ["other"] * 4
    assert caplog.messages == [
        "rheostat: the journal: connection refused; all goes on without it",
        "rheostat: the journal: it goes again",
    ]
    errands.close()


def test_halt_writes_the_switch_into_a_checkpoint_and_takes_it_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "metadata").write_text("{}")
    assert run(["halt", f"file://{tmp_path}"]) == 0
    assert (tmp_path / HALT_FILE).exists()
    assert run(["halt", str(tmp_path), "--undo"]) == 0
    assert not (tmp_path / HALT_FILE).exists()
    assert capsys.readouterr().out.splitlines() == [
        f"file://{tmp_path}/{HALT_FILE} is there",
        f"{tmp_path}/{HALT_FILE} is gone",
    ]


def test_halt_refuses_what_is_no_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["halt", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"rheostat: {tmp_path} is no checkpoint of a query: it has no file metadata\n"
    )
    assert list(tmp_path.iterdir()) == []
