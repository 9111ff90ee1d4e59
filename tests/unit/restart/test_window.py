"""Maintenance windows: over midnight, on weekdays, in their own time zone."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rheostat.errors import BadInput
from rheostat.restart.window import window_of


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("window", "time", "open_"),
    [
        ("02:00-04:00", "2026-01-31T02:00", True),
        ("02:00-04:00", "2026-01-31T03:59", True),
        ("02:00-04:00", "2026-01-31T04:00", False),
        ("23:00-01:00", "2026-01-31T23:30", True),
        ("23:00-01:00", "2026-02-01T00:30", True),
        ("23:00-01:00", "2026-02-01T01:30", False),
        ("02:00-04:00 Sat-Sun", "2026-01-31T02:30", True),
        ("02:00-04:00 Sat-Sun", "2026-01-30T02:30", False),
        ("02:00-04:00 Europe/Berlin", "2026-01-31T01:30", True),
        ("02:00-04:00 Europe/Berlin", "2026-07-31T00:30", True),  # summer time
        ("02:00-04:00 Europe/Berlin", "2026-07-31T02:30", False),
        ("23:00-01:00 Sun America/New_York", "2026-02-02T05:30", True),  # Monday 00:30 there
        ("02:00-04:00 UTC", "2026-01-31T02:30", True),
        ("02:00-04:00; 12:00-12:30", "2026-01-31T12:10", True),
    ],
)
def test_a_window_is_open_in_its_hours(window: str, time: str, open_: bool) -> None:
    found = window_of(window)
    assert found is not None
    assert found.holds(at(time)) is open_


def test_a_window_says_its_time_zone() -> None:
    assert str(window_of("02:00-04:00")) == "02:00-04:00 UTC"
    assert str(window_of("02:00-04:00 Sat Europe/Berlin")) == "02:00-04:00 Sat Europe/Berlin"


def test_no_text_is_no_window() -> None:
    assert window_of(" ") is None


@pytest.mark.parametrize("text", ["2-4", "02:00-02:00", "02:00-04:00 Mars/Base", "02:00-04:00 Xyz"])
def test_what_is_no_window_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(BadInput, match=text):
        window_of(text)
