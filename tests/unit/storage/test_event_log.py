"""An append-only log of typed events."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.storage.event_log import EventLog, known_fields
from rheostat.storage.file_system import StorageError
from rheostat.storage.local_files import LocalFileSystem


@dataclass(frozen=True)
class Step:
    number: int
    name: str = ""


def step_of(read: dict[str, Any]) -> Step | None:
    return None if read.get("later") else Step(**known_fields(Step, read))


def test_events_are_read_in_order(tmp_path: Path) -> None:
    log = EventLog(LocalFileSystem(), str(tmp_path / "a" / "log"), asdict, step_of)
    assert [*log.read()] == []
    steps = [Step(1, "é\u2028"), Step(2)]
    for step in steps:
        log.append(step)
    assert [*log.read()] == steps


def test_truncated_and_unknown_events_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text('{"number":1,"new":3}\n{"later":1}\n{"name":"no number"}\n[]\n{"num')
    log = EventLog(LocalFileSystem(), str(file), asdict, step_of)
    assert [*log.read()] == [Step(1)]
    log.append(Step(2))
    assert [*log.read()] == [Step(1), Step(2)]


def test_an_unreachable_file_system_raises_an_error() -> None:
    files = MemoryFileSystem()
    log = EventLog(files, "far://log", asdict, step_of)
    files.lost = True
    with pytest.raises(StorageError):
        log.append(Step(1))
    with pytest.raises(StorageError):
        list(log.read())
