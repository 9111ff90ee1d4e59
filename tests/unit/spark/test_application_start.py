"""The start of the autoscaler in a running session."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes import RecordingActuator, ScriptedSensor
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.journal.folder import FolderJournal, MemoryJournal
from rheostat.journal.remote_journal import RemoteJournal
from rheostat.loop import Loop
from rheostat.model import Decision, Observation, Record, Rescaling
from rheostat.settings import Settings, settings_of
from rheostat.spark.application_start import (
    JobNotes,
    Start,
    begin,
    command_of,
    local_history,
    session_start,
    start_at,
)
from rheostat.storage.local_files import LocalFileSystem

STARTED_S = 1_700_000_000.0


class Session:
    def __init__(self) -> None:
        self.sparkContext = SimpleNamespace(
            applicationId="app-9", appName="orders", startTime=int(STARTED_S * 1000)
        )
        self.streams = SimpleNamespace(active=[])


INTERNALS: Any = SimpleNamespace(files=LocalFileSystem())


def record(t_s: float, target: int) -> Record:
    return Record(
        t_s=t_s,
        observation=Observation(t_s=t_s, executors=target, batch_s=2.0, batch_rows=1200),
        queries=(),
        raw=None,
        guards=(),
        target=target,
        actions=(),
        rescaling=Rescaling(phase="steady"),
    )


def start(settings: Settings, journal: FolderJournal, configured: int = 1) -> Start:
    return session_start(Session(), settings, INTERNALS, journal, None, configured)


def test_a_session_starts_with_the_size_of_the_previous_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: STARTED_S + 10)
    journal = FolderJournal(tmp_path)
    journal.append(record(STARTED_S - 50, 6), {})
    journal.append(record(STARTED_S + 5, 1), {})
    started = start(settings_of(journal=tmp_path), journal)
    assert started.size.executors == 6
    assert started.size.reason == "the previous run ended 60 s ago with 6 executors"
    assert started.guard.capacity_rows_per_s == 100.0


def test_a_default_ceiling_does_not_reduce_the_configured_size(tmp_path: Path) -> None:
    journal = FolderJournal(tmp_path)
    assert start(settings_of(journal=tmp_path), journal, configured=12).size.executors == 12
    given = settings_of(journal=tmp_path, limits=(1, 8))
    assert start(given, journal, configured=12).size.executors == 8


def test_a_remote_journal_is_read_remotely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: STARTED_S + 10)
    near = FolderJournal(tmp_path / "near")
    near.append(record(STARTED_S - 50, 5), {})
    near.close()
    far = MemoryFileSystem()
    text = (tmp_path / "near" / "segment-00000.jsonl").read_text()
    far.write("s3a://journals/segment-00000.jsonl", text)
    journal = RemoteJournal(tmp_path / "far", far, "s3a://journals")
    assert start(settings_of(journal="s3a://journals"), journal).size.executors == 5


def test_an_unreadable_journal_leaves_the_configured_size(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: str) -> Any:
        raise RuntimeError("no file system")

    far = MemoryFileSystem()
    monkeypatch.setattr(far, "files_below", refused)
    journal = RemoteJournal(tmp_path, far, "s3a://j")
    started = start(settings_of(journal="s3a://j"), journal, configured=3)
    assert started.size.executors == 3
    assert caplog.messages == [
        "rheostat: the previous run is unknown: RuntimeError: no file system"
    ]


def test_without_a_named_journal_the_newest_one_of_the_command_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["app.py", "--topic", "orders"])
    journal = FolderJournal(tmp_path / "rheostat" / "journal" / "app-1")
    notes = JobNotes(Session(), lambda _: None)
    journal.append(record(STARTED_S - 50, 6), {"rescaling": notes()})
    assert local_history(settings_of(), "orders") is not None
    assert local_history(settings_of(), "other") is None
    monkeypatch.setattr(sys, "argv", ["app.py", "--topic", "returns"])
    assert local_history(settings_of(), "orders") is None


def test_checkpoints_of_the_last_queries_are_remembered() -> None:
    session, places = Session(), {"r1": "/a", "r2": None}
    notes = JobNotes(session, lambda query: places[query.runId])
    session.streams.active = [SimpleNamespace(runId="r1"), SimpleNamespace(runId="r2")]
    assert notes() == {
        "application": "app-9",
        "command": command_of("orders"),
        "checkpoints": ["/a"],
    }
    session.streams.active = []
    assert notes()["checkpoints"] == ["/a"]


class Unreachable(RecordingActuator):
    """An actuator whose application cannot be reached."""

    def begin(self, decision: Decision, now: float) -> None:
        raise RuntimeError("no gateway")


def test_the_previous_run_is_recorded_even_if_its_size_was_not_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("time.time", lambda: STARTED_S + 10)
    caplog.set_level(logging.INFO, logger="rheostat")
    journal, memory_journal = FolderJournal(tmp_path), MemoryJournal()
    journal.append(record(STARTED_S - 50, 6), {})
    loop = Loop(
        sensor=ScriptedSensor([]),
        policy=settings_of().built_policy,
        guards=(),
        actuator=Unreachable(),
        journal=memory_journal,
    )
    begin(start(settings_of(journal=tmp_path), journal), loop, 1.0)
    (entry,) = memory_journal.records
    assert entry.target is None
    assert entry.rescaling.phase == "starting"
    assert entry.rescaling.detail in caplog.text
    assert "6 executors were not requested yet: no gateway" in caplog.text


def test_a_supervised_job_is_not_resized_at_its_start() -> None:
    guard = start_at(3, settings_of(limits=(1, 8)), STARTED_S).guard
    assert (guard.executors, guard.ceiling) == (3, 3)
