"""The maintenance window: when a repartition that nobody has ordered may stop a job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from rheostat.errors import BadInput
from rheostat.guards.schedule import Period, parse_periods

UTC = "UTC"


@dataclass(frozen=True, slots=True)
class Window:
    """Times of day in ``zone``; ``text`` is how the user has written them."""

    periods: tuple[Period, ...]
    zone: str
    text: str

    def holds(self, t_s: float) -> bool:
        """Tell whether the window is open at ``t_s``, seconds since 1970."""
        local_s = t_s + _offset_s(self.zone, t_s)
        return any(period.holds(local_s) for period in self.periods)

    def __str__(self) -> str:
        return f"{self.text} {self.zone}"


def window_of(text: str) -> Window | None:
    """Return the window in ``02:00-04:00``, ``02:00-04:00 Sat-Sun`` or ``02:00-04:00
    Europe/Berlin``; several with semicolons, the zone last (default UTC). None for no text.

    A window that ends before it begins ends on the next day. Raises BadInput for anything else.
    """
    if not text.strip():
        return None
    periods, zone = text.strip(), UTC
    head, _, last = periods.rpartition(" ")
    if head and ("/" in last or last.upper() == UTC):
        periods, zone = head.strip(), UTC if last.upper() == UTC else last
    _require_zone(zone, text)
    return Window(parse_periods(periods), zone, periods)


def _require_zone(zone: str, text: str) -> None:
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, KeyError):
        raise BadInput(
            f"a maintenance window ends with a time zone such as Europe/Berlin (default {UTC}), but"
            f" it is {text!r}"
        ) from None


def _offset_s(zone: str, t_s: float) -> float:
    if zone == UTC:
        return 0.0
    moment = datetime.fromtimestamp(t_s, tz=timezone.utc).astimezone(ZoneInfo(zone))
    offset = moment.utcoffset()
    return offset.total_seconds() if offset else 0.0
