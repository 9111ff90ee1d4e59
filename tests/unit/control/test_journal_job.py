# mypy: disallow-untyped-calls=False
"""The page's data of a journal."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.control.test_series import tick
from tests.unit.journal.test_totals import NOON_S, start

from rheostat.control.journal_job import JournalJob
from rheostat.control.journal_series import SERIES_FILE, JournalSeries, SeriesWriter
from rheostat.journal.folder import FolderJournal
from rheostat.journal.reading import Place, place_of, record_at, records_from
from rheostat.journal.retention import segments
from rheostat.journal.starts import Command


def journal(folder, records, per_segment=10_000, indexed=False):
    written = FolderJournal(folder, records_per_segment=per_segment)
    written.note(start(t_s=NOON_S - 5))
    writer = SeriesWriter(lambda: folder)
    for item in records:
        written.append(item, {})
        if indexed:
            writer.add(item)
    written.close()
    return written


def test_a_record_is_located_by_its_time_in_any_segment(tmp_path):
    journal(tmp_path, [tick(place) for place in range(95)], per_segment=10)
    for place in (0, 1, 9, 10, 57, 94):
        newest = record_at(tmp_path, NOON_S + 5 * place + 2)
        assert newest is not None
        assert newest.t_s == NOON_S + 5 * place
        first = next(records_from(tmp_path, place_of(tmp_path, NOON_S + 5 * place - 2)))
        assert first[1].t_s == NOON_S + 5 * place
    assert record_at(tmp_path, NOON_S - 1) is None


def test_a_truncated_journal_and_unknown_schemas_are_shown_partially(tmp_path):
    journal(tmp_path, [tick(place) for place in range(20)])
    (path,) = segments(tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    lines[5] = lines[5].replace('"schema":1', '"schema":99')
    path.write_text("".join(lines)[:-40])
    assert len(list(records_from(tmp_path, Place()))) == 18
    job = JournalJob(tmp_path)
    assert job.overview()["health"]["word"] == "Not scaling"
    assert len(job.series(None, None, 500)["t"]) > 10


def test_a_folder_without_records_has_no_series(tmp_path):
    journal(tmp_path, [])
    job = JournalJob(tmp_path)
    assert job.series(None, None, 100)["t"] == []
    assert job.record(NOON_S) is None
    assert job.overview()["executors"] is None


def test_a_new_record_is_shown_without_rereading_the_others(tmp_path):
    written = journal(tmp_path, [tick(place) for place in range(10)])
    job = JournalJob(tmp_path)
    before, version = job.series(None, None, 500), job.version()
    written.append(tick(10), {})
    assert job.version() != version
    assert job.series(None, None, 500)["now"] == before["now"] + 5


def test_decisions_list_changes_commands_and_reasons_for_no_change(tmp_path):
    records = [tick(0), tick(1, 3, 5, "more load"), *(tick(place, 5) for place in range(2, 9))]
    written = journal(tmp_path, records)
    written.note(Command(t_s=NOON_S + 60, action="halt", author="Ann (127.0.0.1)"))
    entries = JournalJob(tmp_path).decisions(None, None)
    assert [entry["kind"] for entry in entries] == ["command", "kept", "change", "kept", "start"]
    assert "Ann" in entries[0]["reason"]
    assert entries[1]["reasons"][0] == {"reason": "steady", "share": 1.0}


def test_old_times_come_from_the_minute_file_or_the_records(tmp_path):
    records = [tick(100 * place) for place in range(60)]  # eight hours, a tick every 500 s
    shown = []
    for name, indexed in (("with", True), ("without", False)):
        (tmp_path / name).mkdir()
        journal(tmp_path / name, records, indexed=indexed)
        assert (tmp_path / name / SERIES_FILE).exists() == indexed
        shown.append(JournalJob(tmp_path / name).series(None, None, 2000))
    assert shown[0]["rate"] == shown[1]["rate"]
    assert shown[0]["now"] == records[-1].t_s


@given(
    st.integers(1, 120),
    st.sampled_from([5, 60, 300, 3600]),
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 30.0, 100.0, 2000.0]),
)
@settings(max_examples=30, deadline=None)
def test_every_tick_is_in_one_bucket_at_any_chart_width(count, step_s, at, width_s):
    records = [tick(place * step_s / 5) for place in range(count)]
    with TemporaryDirectory() as name:
        journal(Path(name), records, indexed=True)
        series = JournalSeries(Path(name))
        from_s = NOON_S + at * count * step_s
        for begin_s in (None, from_s, None):
            buckets, _ = series.between(begin_s, None, width_s)
            times = [bucket.t_s for bucket in buckets]
            assert times == sorted(set(times))
            ticks = sum(bucket.ticks for bucket in buckets)
            inside = sum(record.t_s >= (begin_s or 0.0) for record in records)
            assert inside <= ticks <= inside + 1 + 900 / step_s  # the first bucket may start before


def test_a_clock_set_back_is_not_an_error(tmp_path):
    journal(tmp_path, [tick(5), tick(6), tick(1), tick(2)])
    series = JournalJob(tmp_path).series(None, None, 100)
    assert len(series["rate"]) == len(series["t"])


def test_every_response_is_valid_json(tmp_path):
    journal(tmp_path, [tick(place) for place in range(5)])
    job = JournalJob(tmp_path)
    for answer in (
        job.overview(),
        job.series(None, None, 50),
        job.decisions(None, None),
        job.record(NOON_S + 10),
    ):
        assert json.loads(json.dumps(answer, allow_nan=False))


def test_a_record_has_evidence_labels_and_guard_changes(tmp_path):
    journal(tmp_path, [tick(0, 3, 5, "more load")])
    record = JournalJob(tmp_path).record(NOON_S + 1)
    assert record is not None
    assert record["wanted"] == 5
    words = {item["words"]: item["value"] for item in record["evidence"]}
    assert words["forecast arrival rate, median"] == 120.0


@pytest.mark.parametrize("points", [-5, 1, 10**9])
def test_the_number_of_points_is_bounded(tmp_path, points):
    journal(tmp_path, [tick(place) for place in range(50)])
    assert len(JournalJob(tmp_path).series(None, None, points)["t"]) <= 60


def placed(place, places):
    record = tick(place)
    return replace(record, rescaling=replace(record.rescaling, places=places))


def test_a_record_has_state_placements_and_recent_moves(tmp_path):
    before, after = {"q": {"1": "0-2"}}, {"q": {"1": "0", "2": "1-2"}}
    ticks = [placed(0, before), *map(tick, range(1, 300)), placed(300, after)]
    journal(tmp_path, [*ticks, *map(tick, range(301, 600))], per_segment=70)
    job = JournalJob(tmp_path)

    def state(place):
        record = job.record(NOON_S + 5 * place)
        return record and record["state"]

    only = {"partitions": ["0", "1", "2"], "received": {}}
    remaining = {"partitions": ["0"], "received": {}}
    received = {"partitions": ["1", "2"], "received": {"1": "1", "2": "1"}}
    assert state(299) == {"1": only}
    assert state(310) == {"1": remaining, "2": received}
    assert state(500) == {"1": remaining, "2": {**received, "received": {}}}


def test_partitions_of_several_queries_include_the_query_name(tmp_path):
    journal(tmp_path, [placed(0, {"q": {"1": "0"}, "r": {"1": "0"}})])
    record = JournalJob(tmp_path).record(NOON_S)
    assert record
    assert record["state"]["1"]["partitions"] == ["q:0", "r:0"]
