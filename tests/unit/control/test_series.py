# mypy: disallow-untyped-calls=False
"""Records as series: folding, merging, columns, and the file of minutes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.journal.test_totals import NOON_S, record, start

from rheostat.control.journal_series import COARSE_FILE, SERIES_FILE, SeriesReader, SeriesWriter
from rheostat.control.series import Bucket, Fold, columns, from_line, merge, resample, to_line
from rheostat.model import Decision, GuardChange

STARTS = [start(t_s=NOON_S - 5)]


def tick(place, size=3, target=None, reason="steady", **signals):
    signals = {"input_rows_per_s": 100.0, "latency_s": 2.0, "batch_rows": 500, **signals}
    base = record(NOON_S + 5 * place, size, **signals)
    raw = Decision(
        target=target or size,
        reason=reason,
        evidence={"forecast_rows_per_s_p50": 120.0, "forecast_rows_per_s_p99": 150.0, "start_s": 9},
    )
    return replace(base, raw=raw, target=target or size)


def fold(records, width_s=60.0, starts=STARTS):
    folded = Fold(width_s, starts)
    buckets = [folded.add(item) for item in records]
    return [bucket for bucket in [*buckets, folded.rest()] if bucket is not None]


def test_a_minute_has_means_and_counts_rows_and_late_rows():
    slow = [tick(place, latency_s=11.0) for place in range(6)]
    (bucket,) = fold([tick(-1), *slow][1:])
    assert (bucket.ticks, bucket.rate, bucket.executors) == (6, 100.0, 3.0)
    assert (bucket.rows, bucket.late_rows) == (2500.0, 2500.0)
    assert (bucket.latency_p50, bucket.latency_p99) == (11.0, 11.0)


def test_time_without_records_has_no_rows():
    (bucket,) = fold([tick(0), tick(100)], width_s=3600.0)
    assert bucket.rows == 0.0


def test_percentiles_weight_batches_by_their_rows():
    many = tick(0, latency_s=1.0, batch_rows=990)
    few = tick(1, latency_s=9.0, batch_rows=10)
    (bucket,) = fold([many, few])
    assert (bucket.latency_p50, bucket.latency_p99) == (1.0, 1.0)


def test_a_change_is_one_event_until_executors_register():
    records = [tick(0), *(tick(place, 3, 5, "more load") for place in (1, 2, 3)), tick(4, 5)]
    buckets = fold(records)
    assert [event[:3] for bucket in buckets for event in bucket.events] == [[NOON_S + 5, 3, 5]]


def test_an_event_names_the_guard_that_set_the_target():
    change = GuardChange(guard="bounds", before=9, after=5, reason="more; max executors is 5")
    held = replace(tick(0, 3, 9, "more"), target=5, guards=(change,))
    ((event,),) = [bucket.events for bucket in fold([held])]
    assert event == [NOON_S, 3, 5, "bounds", "more; max executors is 5"]


def test_reasons_that_differ_only_in_numbers_are_merged():
    records = [tick(place, reason=f"lag {place}.5 s is fine") for place in range(4)]
    (bucket,) = fold(records)
    assert bucket.reasons == {"lag 3.5 s is fine": 4}


def test_forecasts_are_placed_at_their_target_time():
    table = columns(fold([tick(place) for place in range(10)], 0.0), STARTS, 60.0)
    assert table["now"] == NOON_S + 45
    assert table["t"][-1] == NOON_S + 45 + 15  # the horizon nearest to 9 s of start and a 5 s tick
    assert table["forecast_p50"][:3] == [None, None, None]
    assert table["forecast_p50"][3] == 120.0
    assert table["forecast_p99"][-1] == 150.0
    assert table["rate"][-1] is None


def test_a_gap_interrupts_the_lines():
    table = columns(fold([tick(0), tick(100)], 0.0), STARTS, 60.0)
    assert None in table["rate"][:3]


def test_all_columns_have_the_same_length():
    table = columns(fold([tick(place) for place in range(30)], 10.0), STARTS, 60.0)
    lengths = {len(column) for column in table.values() if isinstance(column, list)}
    lengths |= {len(column) for column in table["parts_s"].values()}
    assert lengths == {len(table["t"])}


@given(st.integers(1, 200), st.floats(5.0, 500.0))
def test_resampling_keeps_ticks_and_rows(count, width_s):
    buckets = fold([tick(place) for place in range(count)], 10.0)
    merged = list(resample(buckets, width_s))
    assert sum(bucket.ticks for bucket in merged) == count
    assert sum(bucket.rows for bucket in merged) == pytest.approx(sum(b.rows for b in buckets))


def test_a_line_of_another_schema_or_a_truncated_line_is_ignored():
    bucket = merge(fold([tick(0), tick(20)]))
    assert from_line(to_line(bucket)) == replace_rounded(bucket)
    assert from_line(to_line(bucket)[:-9]) is None
    assert from_line("[99, 1, 2]") is None


def replace_rounded(bucket):
    return from_line(to_line(Bucket(**{name: getattr(bucket, name) for name in bucket.__slots__})))


def test_the_file_has_a_line_per_minute_and_is_read_once(tmp_path):
    writer, reader = SeriesWriter(lambda: tmp_path), SeriesReader(tmp_path / SERIES_FILE)
    for place in range(25):
        writer.add(tick(place))
    assert [bucket.ticks for bucket in reader.since(0.0)] == [12, 12]
    writer.close()
    assert [bucket.ticks for bucket in reader.since(0.0)] == [12, 12, 1]
    assert [bucket.ticks for bucket in reader.since(NOON_S + 60)] == [12, 1]
    assert reader.first_s() == NOON_S


def test_the_coarse_file_equals_the_sum_of_the_minutes(tmp_path):
    writer = SeriesWriter(lambda: tmp_path)
    for place in range(500):
        writer.add(tick(place, 3, 4 if place == 77 else 3, "more" if place == 77 else "steady"))
    writer.close()
    minutes, quarters = (
        SeriesReader(tmp_path / name).since(0.0) for name in (SERIES_FILE, COARSE_FILE)
    )
    assert [bucket.ticks for bucket in quarters] == [180, 180, 140]
    assert sum(b.rows for b in quarters) == pytest.approx(sum(b.rows for b in minutes))
    assert [e for b in quarters for e in b.events] == [e for b in minutes for e in b.events]
    assert quarters[1].reasons == {"steady": 180}


def test_a_shortened_file_is_read_again(tmp_path):
    path = tmp_path / SERIES_FILE
    lines = [to_line(bucket) for bucket in fold([tick(12 * minute) for minute in range(5)])]
    path.write_text("\n".join(lines) + "\n")
    reader = SeriesReader(path)
    assert len(reader.since(0.0)) == 5
    path.write_text("\n".join(lines[3:]) + "\n")
    assert len(reader.since(0.0)) == 2


def test_an_unwritable_folder_is_logged_once(tmp_path, caplog):
    writer = SeriesWriter(lambda: tmp_path / "missing")
    for place in range(40):
        writer.add(tick(place))
    assert len([line for line in caplog.messages if SERIES_FILE in line]) == 1
