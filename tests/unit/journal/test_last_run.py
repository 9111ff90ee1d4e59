from __future__ import annotations

import os
from pathlib import Path

from rheostat.journal.folder import FolderJournal, memory_of
from rheostat.journal.remote_journal import journal_of_command, last_run, tails
from rheostat.model import Observation, Record, Rescaling


def record(t_s: float, target: int | None, phase: str = "steady", executors: int = 2) -> Record:
    return Record(
        t_s=t_s,
        observation=Observation(t_s=t_s, executors=executors),
        queries=(),
        raw=None,
        guards=(),
        target=target,
        actions=(),
        rescaling=Rescaling(phase=phase),
    )


def write_journal(folder: Path, *records: Record, command: str = "app") -> None:
    journal = FolderJournal(folder)
    for entry in records:
        journal.append(entry, {"rescaling": {"command": [command]}})
    journal.close()


def test_the_last_target_applies_until_the_last_record(tmp_path: Path) -> None:
    write_journal(tmp_path, record(1.0, 2), record(2.0, 6))
    write_journal(tmp_path, record(3.0, None, "idle"))
    last = last_run(tails(tmp_path), before_s=9.0)
    assert last is not None
    assert (last.size, last.t_s) == (6, 3.0)
    assert [observation.t_s for observation in last.observations] == [3.0, 2.0, 1.0]


def test_truncated_lines_and_records_of_this_run_are_ignored(
    tmp_path: Path,
) -> None:
    write_journal(tmp_path, record(1.0, 6))
    with next(iter(tmp_path.glob("segment-*"))).open("a") as segment:
        segment.write('{"schema": 1, "t_s": 2.0, "targ')
    write_journal(tmp_path, record(5.0, 1))
    last = last_run(tails(tmp_path), before_s=4.0)
    assert last is not None
    assert (last.size, last.t_s) == (6, 1.0)


def test_advice_counts_with_the_actual_executors(tmp_path: Path) -> None:
    write_journal(tmp_path, record(1.0, 7, "advised", executors=3))
    last = last_run(tails(tmp_path), before_s=9.0)
    assert last is not None
    assert last.size == 3


def test_without_a_journal_nothing_is_known(tmp_path: Path) -> None:
    assert last_run(tails(tmp_path), before_s=9.0) is None
    assert memory_of(tmp_path) == {}


def test_the_newest_journal_of_a_command_is_used(tmp_path: Path) -> None:
    for number, command in enumerate(["app", "app", "other"]):
        write_journal(tmp_path / f"app-{number}", record(1.0, 2), command=command)
        os.utime(tmp_path / f"app-{number}" / "memory.json", (number, number))
    assert journal_of_command(tmp_path, ["app"]) == tmp_path / "app-1"
    assert journal_of_command(tmp_path, ["none"]) is None
