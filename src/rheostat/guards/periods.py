"""Periods: times of day on weekdays or dates in a named time zone, and sizes that apply in them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from rheostat.errors import BadInput

EXAMPLE = "Mon-Fri 08:00-10:00 Europe/Budapest"
_DAY, _DAY_S = timedelta(days=1), 86_400
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_TIMES = re.compile(r"(\d\d?):(\d\d)-(\d\d?):(\d\d)")
_DATES = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?")
_YEAR = tuple(date(2026, 1, 1) + n * _DAY for n in range(365))
"""A year of days, because two time zones change their clocks on different dates."""


@dataclass(frozen=True, slots=True)
class Period:
    """From ``begin_s`` to before ``end_s`` after midnight in ``zone`` (may exceed a day), on the
    days on which it begins.

    A begin or end that the clock skips is the moment of the change; a repeated hour counts
    completely.
    """

    text: str
    begin_s: int
    end_s: int
    weekdays: frozenset[int]
    dates: tuple[tuple[date, date], ...]
    zone: tzinfo

    def end_of(self, t_s: float) -> float | None:
        """Return when the occurrence in force at ``t_s`` ends, in Unix seconds, if any."""
        today = datetime.fromtimestamp(t_s, self.zone).date()
        spans = [_span(self, day) for day in (today, today - _DAY) if self._begins_on(day)]
        return next((end_s for begin_s, end_s in spans if begin_s <= t_s < end_s), None)

    def begins(self, days: Iterable[date]) -> Iterator[float]:
        """Yield the Unix times at which the period begins on these days."""
        for begin_s, end_s in (_span(self, day) for day in days if self._begins_on(day)):
            if begin_s < end_s:
                yield begin_s

    def days(self) -> set[date]:
        """Return the period's dates, plus all days of a year if it has weekdays."""
        ranges = [
            first + n * _DAY for first, last in self.dates for n in range((last - first).days + 1)
        ]
        return {*ranges, *(_YEAR if self.weekdays else ())}

    def _begins_on(self, day: date) -> bool:
        return day.weekday() in self.weekdays or any(a <= day <= b for a, b in self.dates)


@dataclass(frozen=True, slots=True)
class SizedPeriod:
    """A number of executors that holds in a period."""

    period: Period
    executors: int


def in_force(periods: Iterable[Period], t_s: float) -> bool:
    """Return whether one of the periods is in force at ``t_s`` (Unix seconds)."""
    return any(period.end_of(t_s) is not None for period in periods)


def overlap(one: Period, other: Period) -> bool:
    """Return whether two periods are ever in force at the same time."""
    days = one.days() | other.days()
    days |= {day + shift for day in days for shift in (-_DAY, _DAY)}  # dates differ between zones
    return any(other.end_of(t_s) is not None for t_s in one.begins(days)) or any(
        one.end_of(t_s) is not None for t_s in other.begins(days)
    )


@lru_cache(maxsize=64)
def periods_of(text: str) -> tuple[Period, ...]:
    """Return the periods of a text, separated by semicolons; raises BadInput for an invalid one."""
    return tuple(_period(part) for part in _parts(text))


@lru_cache(maxsize=64)
def sized_periods_of(text: str) -> tuple[SizedPeriod, ...]:
    """Return the sizes of a text such as ``Mon-Fri 08:00-10:00 Europe/Budapest = 4; ...``.

    Raises BadInput for a part that is not a period with a size.
    """
    return tuple(_sized(part) for part in _parts(text))


def _parts(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(";") if part.strip()]


def _sized(part: str) -> SizedPeriod:
    when, _, size = (word.strip() for word in part.rpartition("="))
    if not (when and size.isdecimal() and int(size) >= 1):
        raise BadInput(
            "a scheduled size must be a period, '=' and a whole number of executors from 1 on, such"
            f" as '{EXAMPLE} = 4', but it is {part!r}"
        )
    return SizedPeriod(_period(when), int(size))


def _period(text: str) -> Period:
    times, zones = list[tuple[int, int]](), list[tzinfo]()
    weekdays, dates = set[int](), list[tuple[date, date]]()
    for word in re.sub(r"\s*(-|,|\.\.)\s*", r"\1", text).split():
        if matched := _TIMES.fullmatch(word):
            times.append(_times(matched, text))
        elif not _take_days(word, weekdays, dates, text):
            zones.append(_zone(word, text))
    if len(times) > 1 or len(zones) > 1:
        raise _refused(text, "it has two times of day, or two time zones (separate periods by ';')")
    begin_s, end_s = times[0] if times else (0, _DAY_S)
    if not (weekdays or dates):
        weekdays = set(range(7))
    zone = zones[0] if zones else timezone.utc
    return Period(text, begin_s, end_s, frozenset(weekdays), tuple(dates), zone)


def _times(matched: re.Match[str], text: str) -> tuple[int, int]:
    hours, minutes, end_hours, end_minutes = map(int, matched.groups())
    begin_s, end_s = hours * 3600 + minutes * 60, end_hours * 3600 + end_minutes * 60
    if max(minutes, end_minutes) > 59 or max(begin_s, end_s) > _DAY_S:
        raise _refused(text, "a time of day is 00:00 to 24:00")
    if begin_s == end_s:
        raise _refused(text, "it ends when it begins (a whole day is 00:00-24:00)")
    return begin_s, end_s if end_s > begin_s else end_s + _DAY_S


def _take_days(word: str, weekdays: set[int], dates: list[tuple[date, date]], text: str) -> bool:
    """Add the days of a word such as ``Mon-Fri,2026-12-24``; return False if it names no days."""
    for item in word.split(","):
        first, _, last = item.title().partition("-")
        if matched := _DATES.fullmatch(item):
            dates.append(_dates(matched, text))
        elif first in _WEEKDAYS and (last or first) in _WEEKDAYS:
            begin, end = _WEEKDAYS.index(first), _WEEKDAYS.index(last or first)
            weekdays |= {(begin + n) % 7 for n in range((end - begin) % 7 + 1)}
        else:
            return False
    return True


def _dates(matched: re.Match[str], text: str) -> tuple[date, date]:
    try:
        first, last = (date.fromisoformat(day) for day in (matched[1], matched[2] or matched[1]))
    except ValueError:
        raise _refused(text, f"{matched[0]} is not a date such as 2026-12-24") from None
    if first > last:
        raise _refused(text, f"{matched[0]} ends before it begins")
    return first, last


def _zone(word: str, text: str) -> tzinfo:
    if word.upper() == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(word)
    except (OSError, ValueError, KeyError):
        # On a system without a time zone database, the package tzdata provides it.
        why = f"{word!r} is not a time of day, a weekday, a date or a time zone known here"
        raise _refused(text, why) from None


def _refused(text: str, why: str) -> BadInput:
    return BadInput(f"the period {text!r} is invalid: {why}; a valid one is {EXAMPLE!r}")


@lru_cache(maxsize=4096)
def _span(period: Period, day: date) -> tuple[float, float]:
    midnight = datetime(day.year, day.month, day.day, tzinfo=period.zone)
    begin = midnight + timedelta(seconds=period.begin_s)
    end = midnight + timedelta(seconds=period.end_s)
    return _moment(begin)[0], _moment(end)[1]


def _moment(local: datetime) -> tuple[float, float]:
    """Return the first and last Unix time of a local time; of the clock change if it is skipped."""
    first_s, last_s = (local.replace(fold=fold).timestamp() for fold in (0, 1))
    if first_s <= last_s:
        return first_s, last_s
    zone, skipped = local.tzinfo, range(int(last_s), int(first_s))
    before = datetime.fromtimestamp(last_s, zone).utcoffset()
    change = bisect_left(
        skipped, True, key=lambda t_s: datetime.fromtimestamp(t_s, zone).utcoffset() != before
    )
    return last_s + change, last_s + change
