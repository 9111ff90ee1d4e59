from datetime import datetime, timezone

import pytest

from rheostat.errors import BadInput
from rheostat.guards import Schedule
from rheostat.model import Decision, Observation


def target(excluded: str, moment: str) -> int:
    now = datetime.strptime(moment, "%Y-%m-%d %H:%M").replace(tzinfo=timezone.utc).timestamp()
    return Schedule(excluded)(
        Decision(target=9, reason="asked"), Observation(t_s=now, executors=4), {}, now
    )[0].target


@pytest.mark.parametrize(
    ("excluded", "moment", "got"),
    [
        ("08:00-09:30 Mon-Fri", "2026-11-20 08:00", 4),  # a Friday
        ("08:00-09:30 Mon-Fri", "2026-11-20 09:29", 4),
        ("08:00-09:30 Mon-Fri", "2026-11-20 09:30", 9),
        ("08:00-09:30 Mon-Fri", "2026-11-20 07:59", 9),
        ("08:00-09:30 Mon-Fri", "2026-11-21 08:30", 9),
        ("08:00-09:30", "2026-11-21 08:30", 4),
        ("8:00-9:30 sat,Sun", "2026-11-21 08:30", 4),
        ("8:00-9:30 Fri-Mon", "2026-11-22 08:30", 4),
        ("8:00-9:30 Fri-Mon", "2026-11-24 08:30", 9),
        (
            "23:00-01:00 Fri",
            "2026-11-20 23:30",
            4,
        ),  # over midnight: belongs to the day on which it begins
        ("23:00-01:00 Fri", "2026-11-21 00:30", 4),
        ("23:00-01:00 Fri", "2026-11-20 00:30", 9),
        ("00:00-24:00 Sun", "2026-11-22 12:00", 4),
        ("08:00-09:00; 17:00-18:00", "2026-11-20 17:30", 4),
        ("", "2026-11-20 17:30", 9),
        ("01:00-02:00", "1970-01-01 01:30", 4),
    ],
)
def test_the_size_is_kept_in_excluded_periods(excluded, moment, got):
    assert target(excluded, moment) == got


def test_the_reason_names_the_period():
    decision, _ = Schedule("00:00-24:00")(
        Decision(target=9, reason="asked"), Observation(t_s=0.0, executors=4), {}, 0.0
    )
    assert decision.reason == "asked; size kept: no changes at 00:00-24:00 UTC"


@pytest.mark.parametrize(
    "excluded",
    [
        "8-9",
        "08:00",
        "08:60-09:00",
        "25:00-26:00",
        "08:00-08:00",
        "08:00-09:00 Monday",
        "08:00-09:00 Mon-Xyz",
    ],
)
def test_a_text_that_is_no_period_is_refused(excluded):
    with pytest.raises(BadInput, match=excluded):
        Schedule(excluded)
