"""The running summary of a journal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.journal.test_totals import NOON_S, record, start, totals

from rheostat.journal.folder import FolderJournal, erase
from rheostat.journal.reading import last_record
from rheostat.journal.starts import (
    SCHEMA,
    STARTS_FILE,
    Checkpoints,
    End,
    append_event,
    read_events,
)
from rheostat.journal.summary import SUMMARY_FILE, summarize
from rheostat.journal.totals import Totals

EVENTS = (start(), Checkpoints(t_s=1.0, checkpoints=("/ck",)), End(t_s=2.0))


def write(folder: Path, ticks: range, per_segment: int = 7) -> None:
    journal = FolderJournal(folder, records_per_segment=per_segment)
    for tick in ticks:
        journal.append(record(NOON_S + 5 * tick, 1 + tick // 9 % 3), {})


def expected_totals(ticks: range) -> Totals:
    return totals(*(record(NOON_S + 5 * tick, 1 + tick // 9 % 3) for tick in ticks))


def test_events_are_read_back_and_unreadable_lines_are_skipped(tmp_path):
    for event in EVENTS:
        append_event(tmp_path, event)
    with (tmp_path / STARTS_FILE).open("a") as file:
        file.write(f'{{"schema":{SCHEMA + 1},"event":"start","t_s":3}}\n{{"schema":1,"ev')
    assert read_events(tmp_path) == list(EVENTS)
    assert read_events(tmp_path / "nowhere") == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.booleans())
def test_a_summary_left_by_killed_writers_is_updated(tmp_path_factory, parts, has_file):
    folder, ticks = tmp_path_factory.mktemp("journal"), 0
    append_event(folder, start())
    for part in parts:
        write(folder, range(ticks, ticks + part))  # without closing it
        ticks += part
    if not has_file:
        (folder / SUMMARY_FILE).unlink()
    summary, _ = summarize(folder)
    expected = expected_totals(range(ticks))
    assert summary.totals.days.keys() == expected.days.keys()
    for date, day in expected.days.items():
        assert summary.totals.days[date].slot_s == pytest.approx(day.slot_s)
        assert summary.totals.days[date].changes == day.changes
    assert summary.totals.last_t_s == expected.last_t_s


def test_records_deleted_by_retention_stay_in_the_summary(tmp_path):
    append_event(tmp_path, start())
    write(tmp_path, range(40))
    (tmp_path / "segment-00000.jsonl").unlink()
    write(tmp_path, range(40, 50))
    summary, _ = summarize(tmp_path)
    day = next(iter(summary.totals.days.values()))
    assert day.known_s == pytest.approx(49 * 5.0)


def test_an_unreadable_summary_is_rebuilt(tmp_path):
    append_event(tmp_path, start())
    write(tmp_path, range(20))
    for text in ("", "[]", '{"schema": 99}', '{"schema": 1, "totals": {}}'):
        (tmp_path / SUMMARY_FILE).write_text(text)
        assert summarize(tmp_path)[0].totals.last_t_s == NOON_S + 5 * 19


def test_only_records_after_the_summary_are_read(tmp_path):
    append_event(tmp_path, start())
    write(tmp_path, range(20), per_segment=10)
    (tmp_path / "segment-00000.jsonl").write_text("what was added up is not read again\n" * 10)
    summary, _ = summarize(tmp_path)
    assert summary.totals.last_t_s == NOON_S + 5 * 19
    assert next(iter(summary.totals.days.values())).known_s == pytest.approx(19 * 5.0)


def test_the_last_record_is_the_last_complete_line(tmp_path):
    write(tmp_path, range(3))
    with (tmp_path / "segment-00000.jsonl").open("a") as file:
        file.write('{"schema":1,"t_s":')
    last = last_record(tmp_path)
    assert last is not None
    assert last.t_s == NOON_S + 10
    assert last_record(tmp_path / "nowhere") is None


def test_an_erased_journal_leaves_neither_starts_nor_summary(tmp_path):
    folder = tmp_path / "journal"
    folder.mkdir()
    append_event(folder, start())
    write(folder, range(3))
    erase(folder)
    assert not folder.exists()
