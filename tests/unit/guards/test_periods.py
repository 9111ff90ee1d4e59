"""Periods: weekdays, dates, midnight, and the hours that clocks skip and repeat."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.guards.periods import in_force, overlap, periods_of, sized_periods_of

ZONES = ("Europe/Budapest", "America/New_York", "Australia/Lord_Howe", "UTC")
MINUTE_S = 60.0


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


def minutes_in_force(period: str, first: str, last: str) -> list[str]:
    """Return start and end of each uninterrupted occurrence between two UTC times."""
    edges, held, t_s = [], False, utc(first)
    while t_s <= utc(last):
        if in_force(periods_of(period), t_s) != held:
            held = not held
            edges.append(f"{datetime.fromtimestamp(t_s, timezone.utc):%d %H:%M}")
        t_s += MINUTE_S
    return edges


@pytest.mark.parametrize(
    ("period", "moment", "expected"),
    [
        ("08:00-09:30 Mon-Fri", "2026-11-20T08:00", True),  # a Friday
        ("Mon-Fri 08:00-09:30", "2026-11-20T09:29", True),
        ("Mon-Fri 08:00-09:30", "2026-11-20T09:30", False),
        ("Mon-Fri 08:00-09:30", "2026-11-20T07:59", False),
        ("Mon-Fri 08:00-09:30", "2026-11-21T08:30", False),
        ("8:00 - 9:30 sat,Sun", "2026-11-21T08:30", True),
        ("Fri-Mon 8:00-9:30", "2026-11-22T08:30", True),
        ("Fri-Mon 8:00-9:30", "2026-11-24T08:30", False),
        ("Fri 23:00-01:00", "2026-11-20T23:30", True),
        ("Fri 23:00-01:00", "2026-11-21T00:30", True),  # it belongs to the day of its start
        ("Fri 23:00-01:00", "2026-11-20T00:30", False),
        ("Sun 00:00-24:00", "2026-11-22T12:00", True),
        ("Sun", "2026-11-22T23:59", True),
        ("08:00-09:00; 17:00-18:00", "2026-11-20T17:30", True),
        ("2026-12-24", "2026-12-24T23:59", True),
        ("2026-12-24", "2026-12-25T00:00", False),
        ("2026-12-24..2026-12-26 18:00-02:00", "2026-12-27T01:59", True),
        ("2026-12-24..2026-12-26 18:00-02:00", "2026-12-27T18:00", False),
        ("2026-12-24,Mon 10:00-11:00", "2026-12-28T10:30", True),
        ("08:00-10:00 Europe/Budapest", "2026-01-15T07:00", True),  # UTC+1
        ("08:00-10:00 Europe/Budapest", "2026-07-15T06:00", True),  # UTC+2
        ("08:00-10:00 Europe/Budapest", "2026-07-15T08:00", False),
        ("Sun 23:00-01:00 America/New_York", "2026-02-02T05:30", True),  # Monday 00:30 local time
        ("01:00-02:00", "1970-01-01T01:30", True),
        ("", "2026-11-20T17:30", False),
    ],
)
def test_a_period_is_in_force_in_its_hours_and_days(period, moment, expected):
    assert in_force(periods_of(period), utc(moment)) is expected


@pytest.mark.parametrize(
    ("period", "edges"),
    [
        # Budapest: 02:00 to 03:00 is skipped on 29 March 2026, at 01:00 UTC.
        ("01:00-04:00 Europe/Budapest", ["29 00:00", "29 02:00"]),
        ("02:30-04:00 Europe/Budapest", ["29 01:00", "29 02:00"]),
        ("01:00-02:30 Europe/Budapest", ["29 00:00", "29 01:00"]),
        ("02:00-03:00 Europe/Budapest", []),
        ("02:15-02:45 Europe/Budapest", []),
    ],
)
def test_periods_start_and_end_at_the_clock_change_in_a_skipped_hour(period, edges):
    assert minutes_in_force(period, "2026-03-28T23:30", "2026-03-29T12:00") == edges


@pytest.mark.parametrize(
    ("period", "edges"),
    [
        # Budapest: 02:00 to 03:00 is repeated on 25 October 2026; the change is at 01:00 UTC.
        ("01:30-02:30 Europe/Budapest", ["24 23:30", "25 01:30"]),
        ("02:00-03:00 Europe/Budapest", ["25 00:00", "25 02:00"]),
        ("02:30-05:00 Europe/Budapest", ["25 00:30", "25 04:00"]),
        ("22:00-06:00 Europe/Budapest", ["24 20:00", "25 05:00"]),  # nine hours
    ],
)
def test_a_repeated_hour_does_not_interrupt_a_period(period, edges):
    assert minutes_in_force(f"Sat-Sun {period}", "2026-10-24T12:00", "2026-10-25T12:00") == edges


@pytest.mark.parametrize(
    ("period", "first", "edges"),
    [
        # New York: skipped on 8 March 2026 at 07:00 UTC, repeated on 1 November at 06:00 UTC.
        ("02:30-04:00 America/New_York", "2026-03-08T05:00", ["08 07:00", "08 08:00"]),
        ("01:30-02:30 America/New_York", "2026-11-01T04:30", ["01 05:30", "01 07:30"]),
        ("Sat 22:00-06:00 America/New_York", "2026-11-01T01:00", ["01 02:00", "01 11:00"]),
    ],
)
def test_new_york_clock_changes_are_applied(period, first, edges):
    last = (datetime.fromisoformat(first) + timedelta(hours=12)).isoformat()
    assert minutes_in_force(period, first, last) == edges


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("8-9", "'8-9'"),
        ("08:00", "'08:00'"),
        ("08:60-09:00", "00:00 to 24:00"),
        ("25:00-26:00", "00:00 to 24:00"),
        ("08:00-08:00", "00:00-24:00"),
        ("08:00-09:00 Monday", "'Monday'"),
        ("08:00-09:00 Mon-Xyz", "'Mon-Xyz'"),
        ("08:00-09:00 Mars/Base", "'Mars/Base'"),
        ("08:00-09:00 ../etc/passwd", "passwd"),
        ("08:00-09:00 UTC Europe/Budapest", "two time zones"),
        ("08:00-09:00 10:00-11:00", "two times of day"),
        ("2026-02-30", "2026-02-30 is not a date"),
        ("2026-12-26..2026-12-24", "ends before it begins"),
    ],
)
def test_invalid_text_is_rejected_with_a_valid_example(text, part):
    with pytest.raises(BadInput, match="Mon-Fri 08:00-10:00 Europe/Budapest") as refused:
        periods_of(text)
    assert part in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["Mon", "Mon = ", "= 4", "Mon = 0", "Mon = 2.5", "Mon = -1"])
def test_a_size_without_a_period_or_number_is_rejected(text):
    with pytest.raises(BadInput, match="= 4'"):
        sized_periods_of(text)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Mon 08:00-10:00", "Mon 10:00-12:00", False),
        ("Mon 08:00-10:00", "Mon 09:59-12:00", True),
        ("Sun 23:00-01:00", "Mon 00:30-02:00", True),
        ("Mon", "2026-11-24", False),  # a Tuesday
        ("Mon", "2026-11-23", True),
        ("2026-11-23", "2026-11-24", False),
        ("2026-12-24..2027-01-02", "Sat,Sun", True),
        ("08:00-10:00 Europe/Budapest", "08:00-10:00 America/New_York", False),
        # The offset is five hours only for three weeks in March, and six for the rest of the year.
        ("13:00-13:30 Europe/Budapest", "08:00-08:30 America/New_York", True),
        ("15:00-15:30 Europe/Budapest", "08:00-08:30 America/New_York", False),
        ("2026-11-23 23:00-24:00 UTC", "2026-11-24 00:30-02:00 Europe/Budapest", True),
        ("2026-11-24 00:30-02:00 Europe/Budapest", "Mon 23:00-24:00", True),
    ],
)
def test_overlapping_periods_are_detected(one, other, expected):
    (first,), (second,) = periods_of(one), periods_of(other)
    assert overlap(first, second) is overlap(second, first) is expected


times = st.integers(0, 24 * 60 - 1)


@settings(max_examples=200)
@given(
    begin=times,
    length=st.integers(1, 24 * 60),
    zone=st.sampled_from(ZONES),
    moment=st.integers(int(utc("2026-01-01T00:00")), int(utc("2027-12-31T00:00"))),
)
def test_away_from_clock_changes_a_period_follows_local_time(begin, length, zone, moment):
    end = begin + length
    text = f"{begin // 60:02}:{begin % 60:02}-{end // 60 % 24:02}:{end % 60:02} {zone}"
    if begin == end % (24 * 60):
        text = zone
        begin, end = 0, 24 * 60
    local = datetime.fromtimestamp(moment, ZoneInfo(zone))
    days = [local.date() + timedelta(days=n) for n in (-1, 0, 1)]
    if len({offset(day, zone, minute) for day in days for minute in (0, 720)}) > 1:
        return  # the clocks change: the tests above cover this case
    minute = local.hour * 60 + local.minute
    expected = begin <= minute < end or begin <= minute + 24 * 60 < end
    assert in_force(periods_of(text), moment) is expected


def offset(day: date, zone: str, minute: int) -> timedelta | None:
    midnight = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    return (midnight + timedelta(minutes=minute)).utcoffset()


@settings(max_examples=100)
@given(
    begin=times,
    length=st.integers(1, 24 * 60 - 1),
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2026, 1, 1), date(2027, 12, 31)),
)
def test_every_occurrence_is_one_interval_across_clock_changes(begin, length, zone, day):
    end = (begin + length) % (24 * 60)
    times_of_day = f"{begin // 60:02}:{begin % 60:02}-{end // 60:02}:{end % 60:02}"
    (period,) = periods_of(f"{day} {times_of_day} {zone}")
    start_s = datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp() - 86_400
    held = [period.end_of(start_s + n * 900.0) is not None for n in range(5 * 96)]
    changes = sum(one != other for one, other in pairwise(held))
    assert changes in (0, 2)
