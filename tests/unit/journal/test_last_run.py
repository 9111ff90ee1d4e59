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


def kept(folder: Path, *records: Record, command: str = "app") -> None:
    journal = FolderJournal(folder)
    for one in records:
        journal.append(one, {"rescaling": {"command": [command]}})
    journal.close()


def test_the_last_target_counts_until_the_last_record(tmp_path: Path) -> None:
    kept(tmp_path, record(1.0, 2), record(2.0, 6))
    kept(tmp_path, record(3.0, None, "idle"))
    last = last_run(tails(tmp_path), before_s=9.0)
    assert last is not None
    assert (last.size, last.t_s) == (6, 3.0)
    assert [observation.t_s for observation in last.observations] == [3.0, 2.0, 1.0]


def test_a_line_that_was_cut_off_and_what_this_run_has_written_do_not_count(
    tmp_path: Path,
) -> None:
    kept(tmp_path, record(1.0, 6))
    with next(iter(tmp_path.glob("segment-*"))).open("a") as segment:
        segment.write('{"schema": 1, "t_s": 2.0, "targ')
    kept(tmp_path, record(5.0, 1))
    last = last_run(tails(tmp_path), before_s=4.0)
    assert last is not None
    assert (last.size, last.t_s) == (6, 1.0)


def test_of_advice_the_executors_count_that_were_there(tmp_path: Path) -> None:
    kept(tmp_path, record(1.0, 7, "advised", executors=3))
    last = last_run(tails(tmp_path), before_s=9.0)
    assert last is not None
    assert last.size == 3


def test_where_there_is_no_journal_nothing_is_known(tmp_path: Path) -> None:
    assert last_run(tails(tmp_path), before_s=9.0) is None
    assert memory_of(tmp_path) == {}


def test_of_the_journals_of_one_command_the_newest_is_taken(tmp_path: Path) -> None:
    for number, command in enumerate(["app", "app", "other"]):
        kept(tmp_path / f"app-{number}", record(1.0, 2), command=command)
        os.utime(tmp_path / f"app-{number}" / "memory.json", (number, number))
    assert journal_of_command(tmp_path, ["app"]) == tmp_path / "app-1"
    assert journal_of_command(tmp_path, ["none"]) is None
