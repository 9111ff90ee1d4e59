import json
import os

import pytest

from rheostat.errors import BadInput
from rheostat.journal.folder import FolderJournal, MemoryJournal, erase, erase_old, read
from rheostat.journal.retention import segments
from rheostat.model import Record, Rescaling
from rheostat.testing.contracts import journal_checks


def record(t_s: float) -> Record:
    return Record(
        t_s=t_s,
        observation=None,
        queries=(),
        raw=None,
        guards=(),
        target=None,
        actions=(),
        rescaling=Rescaling(phase="idle"),
    )


@pytest.mark.parametrize(
    ("name", "check"), journal_checks(), ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_every_journal_satisfies_the_contract(kind, name, check, tmp_path):
    journals: list[FolderJournal] = []

    def make() -> FolderJournal | MemoryJournal:
        if kind == "memory":
            return MemoryJournal()
        journals.append(FolderJournal(tmp_path / str(len(journals))))
        return journals[-1]

    check(make)
    for journal in journals:
        journal.close()


def test_appended_records_are_read_in_order(tmp_path):
    journal = FolderJournal(tmp_path)
    for n in range(5):
        journal.append(record(n), {})
    assert [r.t_s for r in read(tmp_path)] == [0, 1, 2, 3, 4], "also while it is open"
    journal.close()
    journal.close()
    assert list(read(tmp_path / "nothing")) == []


def test_a_restart_continues_in_a_new_segment_with_its_memory(tmp_path):
    first = FolderJournal(tmp_path)
    first.append(record(1.0), {"guards": {"cooldown": {"changed_s": 1.0}}})
    first.close()
    second = FolderJournal(tmp_path)
    assert second.restore() == {"guards": {"cooldown": {"changed_s": 1.0}}}
    second.append(record(2.0), {})
    second.close()
    assert [path.name for path in segments(tmp_path)] == [
        "segment-00000.jsonl",
        "segment-00001.jsonl",
    ]
    assert [r.t_s for r in read(tmp_path)] == [1.0, 2.0]


def test_the_number_of_a_deleted_segment_is_not_reused(tmp_path):
    for t_s in (1.0, 2.0, 3.0):
        journal = FolderJournal(tmp_path)
        journal.append(record(t_s), {})
        journal.close()
        if t_s == 2.0:
            segments(tmp_path)[0].unlink()
    assert [path.name for path in segments(tmp_path)] == [
        "segment-00001.jsonl",
        "segment-00002.jsonl",
    ]


def test_a_full_segment_is_followed_by_a_new_one(tmp_path):
    journal = FolderJournal(tmp_path, records_per_segment=2)
    for n in range(5):
        journal.append(record(n), {})
    journal.close()
    assert [len(path.read_text().splitlines()) for path in segments(tmp_path)] == [2, 2, 1]
    assert [r.t_s for r in read(tmp_path)] == [0, 1, 2, 3, 4]


def test_a_truncated_line_is_ignored(tmp_path):
    first = FolderJournal(tmp_path)
    first.append(record(1.0), {})
    first.append(record(2.0), {})
    first.close()
    path = segments(tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-9])
    second = FolderJournal(tmp_path)
    second.append(record(3.0), {})
    second.close()
    assert [r.t_s for r in read(tmp_path)] == [1.0, 3.0]


@pytest.mark.parametrize(
    "memory_text",
    [
        "",
        "{",
        "[1]",
        "null",
        '{"schema": 2, "memory": {"a": 1}}',
        '{"schema": 1}',
        '{"schema": 1, "memory": [1]}',
    ],
)
def test_an_unusable_memory_is_ignored(memory_text, tmp_path):
    (tmp_path / "memory.json").write_text(memory_text)
    assert FolderJournal(tmp_path).restore() == {}


def test_the_memory_is_replaced_atomically(tmp_path):
    journal = FolderJournal(tmp_path)
    journal.append(record(1.0), {"n": 1})
    journal.append(record(2.0), {"n": 2})
    journal.close()
    assert json.loads((tmp_path / "memory.json").read_text())["memory"] == {"n": 2}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "memory.json",
        "segment-00000.jsonl",
        "summary.json",
    ]


def test_a_file_named_stop_is_the_kill_switch(tmp_path):
    journal = FolderJournal(tmp_path)
    assert not journal.halted()
    journal.stop_file.touch()
    assert journal.stop_file.name == "STOP"
    assert journal.halted()


def test_an_uncreatable_folder_is_reported_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=r"journal folder .* cannot be created"):
        FolderJournal(tmp_path / "file" / "journal")


def test_erasing_a_journal_keeps_other_files(tmp_path):
    folder = tmp_path / "journal"
    journal = FolderJournal(folder)
    journal.append(record(1.0), {})
    journal.close()
    (folder / "segment-00007.jsonl").write_text('{"my": "own"}\n')
    journal.stop_file.touch()
    erase(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["STOP", "segment-00007.jsonl"]


def test_an_erased_journal_leaves_no_folder(tmp_path):
    journal = FolderJournal(tmp_path / "journal")
    journal.append(record(1.0), {})
    journal.close()
    erase(journal.folder)
    erase(journal.folder)
    assert not journal.folder.exists()


def test_only_journals_that_ended_long_ago_are_erased(tmp_path):
    for name, age_s in (("old", 1000.0), ("new", 0.0)):
        journal = FolderJournal(tmp_path / name)
        journal.append(record(1.0), {})
        journal.close()
        for path in journal.folder.iterdir():
            os.utime(path, (5000.0 - age_s,) * 2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    os.utime(tmp_path / "mine" / "notes.txt", (0.0, 0.0))
    erase_old(tmp_path, 4500.0)
    erase_old(tmp_path / "nowhere", 4500.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "new"]
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_a_foreign_memory_file_is_renamed(tmp_path):
    (tmp_path / "memory.json").write_text('{"weights": [1, 2]}')
    journal = FolderJournal(tmp_path)
    journal.append(record(1.0), {"n": 1})
    journal.close()
    assert journal.restore() == {"n": 1}
    assert (tmp_path / "memory.json.not-ours-0").read_text() == '{"weights": [1, 2]}'
