"""A journal that is written locally and copied to another file system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.journal.test_totals import record as record_of_size
from tests.unit.journal.test_totals import start
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.config import JournalOptions
from rheostat.journal.folder import read
from rheostat.journal.job_status import total
from rheostat.journal.remote_journal import RemoteJournal
from rheostat.journal.starts import read_events
from rheostat.journal.summary import summarize
from rheostat.model import Record, Rescaling
from rheostat.ports import Journal
from rheostat.testing.contracts import journal_checks

FAR = "far://away/journal"


def record(t_s: float, detail: str = "") -> Record:
    return Record(
        t_s=t_s,
        observation=None,
        queries=(),
        raw=None,
        guards=(),
        target=None,
        actions=(),
        rescaling=Rescaling(phase="idle", detail=detail),
    )


def record_with_size(t_s: float) -> Record:
    return record_of_size(t_s, 3)


def copied_times(far: MemoryFileSystem, folder: Path) -> list[float]:
    """Return the times in a local copy of the remote journal."""
    folder.mkdir()
    for name, text in far.folder(FAR).items():
        (folder / name).write_text(text)
    return [entry.t_s for entry in read(folder)]


@pytest.mark.parametrize("check", [check for _, check in journal_checks()])
def test_a_remote_journal_satisfies_the_contract(
    check: Callable[[Callable[[], Journal]], None], tmp_path: Path
) -> None:
    check(lambda: RemoteJournal(tmp_path / "near", MemoryFileSystem(), FAR))


def test_an_uploaded_journal_is_readable_and_a_restart_continues_from_it(tmp_path: Path) -> None:
    far = MemoryFileSystem()
    first = RemoteJournal(tmp_path / "near", far, FAR)
    for number in range(3):
        first.append(record(float(number)), {"policy": {"n": number}})
    first.carry()
    first.append(record(3.0), {"policy": {"n": 3}})
    first.end()
    second = RemoteJournal(tmp_path / "another driver", far, FAR)
    assert second.restore() == {"policy": {"n": 3}}
    second.append(record(4.0), {"policy": {"n": 4}})
    second.carry()
    assert copied_times(far, tmp_path / "copy") == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [name for name in sorted(far.folder(FAR)) if name.startswith("segment")] == [
        "segment-00000.jsonl",
        "segment-00001.jsonl",
    ]


def test_failed_uploads_are_retried_exactly_once(tmp_path: Path) -> None:
    far = MemoryFileSystem()
    journal = RemoteJournal(tmp_path / "near", far, FAR)
    journal.append(record(0.0), {})
    journal.carry()
    far.lost = True
    journal.append(record(1.0), {})
    with pytest.raises(OSError, match="nobody answers"):
        journal.carry()
    assert not journal.halted()
    journal.append(record(2.0), {})
    far.lost = False
    journal.carry()
    journal.carry()
    assert copied_times(far, tmp_path / "copy") == [0.0, 1.0, 2.0]
    assert [entry.t_s for entry in read(tmp_path / "near")] == [0.0, 1.0, 2.0]


def test_starts_and_totals_survive_the_drivers_computer(tmp_path: Path) -> None:
    far = MemoryFileSystem()
    for number, name in enumerate(("first", "second")):
        journal = RemoteJournal(tmp_path / name, far, FAR)
        journal.restore()
        journal.note(start(t_s=100.0 * number))
        for tick in range(3):
            journal.append(record_with_size(100.0 * number + 5 * tick), {})
        journal.carry()
        journal.end()
        journal.close()
    copied_times(far, tmp_path / "copy")
    assert [event.t_s for event in read_events(tmp_path / "copy")] == [0.0, 100.0]
    day = total(summarize(tmp_path / "copy")[0].totals.days)
    assert (day.known_s, day.unknown_s) == (20.0, 90.0)


def test_files_stay_small_where_appends_rewrite_the_file(tmp_path: Path) -> None:
    far = MemoryFileSystem(append_limit_bytes=500)
    journal = RemoteJournal(tmp_path / "near", far, FAR)
    for number in range(20):
        journal.append(record(float(number), "x" * 50), {})
        journal.carry()
    assert max(len(t) for name, t in far.folder(FAR).items() if name.startswith("segment")) <= 500
    assert copied_times(far, tmp_path / "copy") == [float(number) for number in range(20)]


def test_old_files_are_deleted_remotely_too(tmp_path: Path) -> None:
    far = MemoryFileSystem(append_limit_bytes=10)
    options = JournalOptions(journal_days=1.0)
    journal = RemoteJournal(tmp_path / "near", far, FAR, options)
    journal.append(record(0.0), {})
    journal.carry()
    journal.append(record(2 * 86_400.0), {})
    journal.carry()
    assert copied_times(far, tmp_path / "copy") == [2 * 86_400.0]


def test_a_remote_stop_file_is_a_kill_switch(tmp_path: Path) -> None:
    far = MemoryFileSystem()
    journal = RemoteJournal(tmp_path / "near", far, FAR)
    far.write(f"{FAR}/STOP", "")
    assert not journal.halted()
    journal.carry()
    assert journal.halted()
