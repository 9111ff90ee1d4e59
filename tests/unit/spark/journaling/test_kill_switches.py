"""The kill switch in a checkpoint, and the work outside of ticks."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.cli.app import run
from rheostat.journal.folder import FolderJournal
from rheostat.spark.journaling.journals import SessionJournal
from rheostat.spark.journaling.kill_switches import HALT_FILE, KillSwitches


def test_a_stop_file_in_any_checkpoint_halts_until_it_is_removed() -> None:
    files = MemoryFileSystem()
    running = ["hdfs://n/one", "hdfs://n/two"]
    switches = KillSwitches(lambda: running, files)
    switches.poll()
    assert switches.pulled() == ""
    files.write(file := f"hdfs://n/two/{HALT_FILE}", "")
    switches.poll()
    assert switches.pulled() == file
    running.remove("hdfs://n/two")  # the end of its query does not resume decisions
    switches.poll()
    assert switches.pulled() == file
    files.delete(file)
    switches.poll()
    assert switches.pulled() == ""


def test_an_unreachable_file_system_keeps_the_halt() -> None:
    files = MemoryFileSystem()
    files.write(f"hdfs://n/one/{HALT_FILE}", "")
    switches = KillSwitches(lambda: ["hdfs://n/one"], files)
    switches.poll()
    files.lost = True
    with pytest.raises(OSError, match="nobody answers"):
        switches.poll()
    assert switches.pulled()


def test_a_failing_task_is_logged_once_and_the_others_run(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []
    broken = [True]

    def fails() -> None:
        if broken[0]:
            raise OSError("connection refused")

    tasks = SessionJournal(
        FolderJournal(tmp_path), {"the journal": fails, "other": lambda: done.append("other")}, 60.0
    )
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        for _ in range(3):
            tasks.turn()
        broken[0] = False
        tasks.turn()
    assert done == ["other"] * 4
    assert caplog.messages == [
        "rheostat: the journal: connection refused; the job continues",
        "rheostat: the journal: recovered",
    ]
    tasks.close()


def test_halt_creates_a_stop_file_in_a_checkpoint_and_resume_removes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "metadata").write_text("{}")
    assert run(["halt", f"file://{tmp_path}"]) == 0
    assert (tmp_path / HALT_FILE).exists()
    assert run(["resume", str(tmp_path)]) == 0
    assert not (tmp_path / HALT_FILE).exists()
    assert capsys.readouterr().out.splitlines() == [
        f"file://{tmp_path}/{HALT_FILE} exists: decisions are halted",
        f"{tmp_path}/{HALT_FILE} is removed: decisions resume",
    ]


def test_halt_and_resume_accept_a_journal(tmp_path: Path) -> None:
    (tmp_path / "memory.json").write_text("{}")
    assert run(["halt", str(tmp_path)]) == 0
    assert (tmp_path / "STOP").exists()
    assert run(["resume", str(tmp_path)]) == 0
    assert not (tmp_path / "STOP").exists()


def test_halt_rejects_a_folder_without_checkpoint_or_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["halt", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"rheostat: {tmp_path} is neither the checkpoint of a query (it has no file metadata) nor a"
        " journal (no file memory.json); name one of them, or HOST:PORT of an agent\n"
    )
    assert list(tmp_path.iterdir()) == []
