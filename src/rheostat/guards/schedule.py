"""Schedule: hours in which the size is not touched."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation

_DAY_S = 86_400
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_EPOCH_DAY = 3  # 1970-01-01 was a Thursday


@dataclass(frozen=True, slots=True)
class Period:
    """From ``begin_s`` to before ``end_s`` after midnight (past midnight: above a day), on the days
    on which it begins.
    """

    begin_s: int
    end_s: int
    days: frozenset[int]

    def holds(self, t_s: float) -> bool:
        """Tell whether the period holds at ``t_s``, seconds of UTC since 1970."""
        day, of_day = divmod(t_s, _DAY_S)
        today = (int(day) + _EPOCH_DAY) % 7
        began_today = today in self.days and self.begin_s <= of_day < self.end_s
        # A period over midnight belongs to the day on which it began.
        return began_today or ((today - 1) % 7 in self.days and of_day + _DAY_S < self.end_s)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Keeps the size in the periods ``excluded``: times of day in UTC with optional weekdays, as
    ``08:00-09:30 Mon-Fri; 23:00-01:00``.

    A period that ends before it begins ends on the next day. Raises BadInput for a text that is no
    period.
    """

    excluded: str = ""
    name: str = "schedule"

    def __post_init__(self) -> None:
        parse_periods(self.excluded)

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the size that stands while an excluded period holds."""
        current = observation.size
        if (
            current is None
            or decision.target == current
            or not any(period.holds(now) for period in parse_periods(self.excluded))
        ):
            return decision, {}
        return (
            replace(
                decision,
                target=current,
                reason=f"{decision.reason}; size kept: no changes at {self.excluded} UTC",
            ),
            {},
        )


@lru_cache(maxsize=64)
def parse_periods(text: str) -> tuple[Period, ...]:
    """Return the periods in a text with semicolons between them; raises BadInput for one that is
    none.
    """
    return tuple(_parse(part.strip()) for part in text.split(";") if part.strip())


def _parse(text: str) -> Period:
    found = re.fullmatch(r"(\d\d?):(\d\d)\s*-\s*(\d\d?):(\d\d)(?:\s+(\S.*))?", text)
    if found is None:
        raise BadInput(
            "a period is HH:MM-HH:MM with optional weekdays, like '08:00-09:30 Mon-Fri', but it is"
            f" {text!r}"
        )
    begin_s, end_s = _seconds(found[1], found[2], text), _seconds(found[3], found[4], text)
    if begin_s == end_s:
        raise BadInput(
            f"a period must end at another time than it begins, but it is {text!r} (a whole day:"
            " 00:00-24:00)"
        )
    return Period(
        # Kept above a day, so that a period is one interval and not two.
        begin_s,
        end_s if end_s > begin_s else end_s + _DAY_S,
        _days(found[5] or "Mon-Sun", text),
    )


def _seconds(hours: str, minutes: str, text: str) -> int:
    seconds = int(hours) * 3600 + int(minutes) * 60
    if int(minutes) > 59 or seconds > _DAY_S:
        raise BadInput(f"a time of day is 00:00 to 24:00, but the period is {text!r}")
    return seconds


def _days(text: str, period: str) -> frozenset[int]:
    days: set[int] = set()
    for part in re.split(r"[,\s]+", text):
        first, _, last = part.title().partition("-")
        if first not in _DAYS or (last or first) not in _DAYS:
            raise BadInput(f"a weekday is one of {', '.join(_DAYS)}, but the period is {period!r}")
        begin = _DAYS.index(first)
        days |= {(begin + n) % 7 for n in range((_DAYS.index(last or first) - begin) % 7 + 1)}
    return frozenset(days)
