"""What an autoscaler has saved, measured: slot-hours that were used against those of a fixed size
in the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.journal.totals import Day

MAX, BEFORE = "max", "before"
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """Slot-hours of a day, or of several, against a fixed size; None is unknown.

    ``known_h`` are the hours that were measured, ``unknown_h`` those without decisions or without a
    size, ``shadow_h`` those in shadow mode, in which nothing can be saved. ``late_rows`` are rows
    that arrived while a batch took longer than the objective, of ``rows``; ``rows_unknown_h`` are
    measured hours in which rate, latency or objective are unknown.
    """

    known_h: float
    unknown_h: float
    shadow_h: float
    slot_h: float
    against_slot_h: float | None
    rows: float
    late_rows: float
    rows_unknown_h: float
    changes: int

    @property
    def saved_slot_h(self) -> float | None:
        """Slot-hours that a fixed size would have used more."""
        return None if self.against_slot_h is None else self.against_slot_h - self.slot_h

    @property
    def saved_share(self) -> float | None:
        """The same as a share of the fixed size's slot-hours."""
        saved = self.saved_slot_h
        return saved / self.against_slot_h if saved is not None and self.against_slot_h else None

    @property
    def late_share(self) -> float | None:
        """Late rows as a share of all rows; None without rows."""
        return self.late_rows / self.rows if self.rows else None


def saving(day: Day, against: str | int, size_before: int | None) -> Saving:
    """Return the saving of a day against ``max`` (the ceiling then in force), ``before`` (the size
    before Rheostat, None where it is unknown) or a number of executors.
    """
    return Saving(
        known_h=day.known_s / _HOUR_S,
        unknown_h=day.unknown_s / _HOUR_S,
        shadow_h=day.shadow_s / _HOUR_S,
        slot_h=day.slot_s / _HOUR_S,
        against_slot_h=_against_slot_h(day, against, size_before),
        rows=day.rows,
        late_rows=day.late_rows,
        rows_unknown_h=day.rows_unknown_s / _HOUR_S,
        changes=day.changes,
    )


def total(days: Mapping[str, Day]) -> Day:
    """Return the sum of days."""
    result = Day()
    for day in days.values():
        result.add(day)
    return result


def against_of(text: str) -> str | int:
    """Return what ``--against`` names; raises BadInput for anything but a number of executors,
    ``max`` and ``before``.
    """
    if text in (MAX, BEFORE):
        return text
    if not text.isdecimal() or int(text) < 1:
        raise BadInput(f"--against must be a number of executors, max or before, not {text!r}")
    return int(text)


def _against_slot_h(day: Day, against: str | int, size_before: int | None) -> float | None:
    live_s = day.known_s - day.shadow_s
    if not live_s:
        return None
    if against == MAX:
        # A ceiling that is known for a part of the time only is compared with nothing.
        return day.max_slot_s / _HOUR_S if day.max_known_s >= live_s - 1e-6 * live_s else None
    size = size_before if against == BEFORE else int(against)
    return None if size is None else size * day.one_slot_s / _HOUR_S
