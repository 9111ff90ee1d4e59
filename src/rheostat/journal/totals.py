"""The totals of a journal by day: measured slot-hours, late rows, and the time without data. A fold
over records, so that a writer can update them at each tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import Any

from rheostat.journal.starts import SHADOW, Start, start_at
from rheostat.model import Observation, Record
from rheostat.signals.application import most_important

DAY_S = 86_400.0
MOST_DAYS = 400
"""Maximum number of days that are kept; older ones are dropped."""

_USUAL_INTERVAL_S = 5.0
_TICKS_MISSING = 3.0
_LEAST_GAP_S = 15.0


@dataclass(slots=True, kw_only=True)
class Day:
    """A UTC day of a journal, or the sum of several; times in seconds.

    ``unknown_s`` is time without a decision or with an unknown size. ``shadow_s`` is the part of
    ``known_s`` in shadow mode. Outside shadow mode, ``slot_s`` are the slot-seconds of registered
    and standby executors, ``one_slot_s`` those of a single executor, and ``max_slot_s`` those of
    the maximum, which is known for ``max_known_s``. ``rows``, of the queries with the highest
    priority, arrived while rate and latency were known; ``rows_unknown_s`` is the rest of the known
    time.
    """

    known_s: float = 0.0
    unknown_s: float = 0.0
    shadow_s: float = 0.0
    slot_s: float = 0.0
    one_slot_s: float = 0.0
    max_slot_s: float = 0.0
    max_known_s: float = 0.0
    rows: float = 0.0
    late_rows: float = 0.0
    rows_unknown_s: float = 0.0
    changes: int = 0
    queries: dict[str, list[float]] = field(default_factory=dict)
    """Rows and late rows of each query, by its name; empty for a single one."""

    def add(self, other: Day) -> None:
        """Add another day to this one."""
        for item in fields(self):
            if item.name != "queries":
                setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
        for name, (rows, late_rows) in other.queries.items():
            self.count(name, rows, late_rows)

    def count(self, query: str, rows: float, late_rows: float) -> None:
        """Add rows of a query."""
        rows_before, late_before = self.queries.get(query, (0.0, 0.0))
        self.queries[query] = [rows_before + rows, late_before + late_rows]


@dataclass(slots=True, kw_only=True)
class Change:
    """The target changed at ``t_s`` from ``before`` to ``after``, set by ``guard`` if any."""

    t_s: float
    before: int
    after: int
    reason: str
    guard: str | None = None


@dataclass(slots=True, kw_only=True)
class Totals:
    """The sum of a journal's records: days by their date, the newest change of the target, and the
    values to compare the next record with.

    ``first_size`` is the size of the first record that has one, before any decision.
    """

    days: dict[str, Day] = field(default_factory=dict)
    first_t_s: float | None = None
    first_size: int | None = None
    last_change: Change | None = None
    last_t_s: float | None = None
    last_executors: int | None = None
    last_slots: int | None = None
    last_target: int | None = None

    def fold(self, record: Record, starts: Sequence[Start]) -> None:
        """Add the next record if it is newer than the last; ``starts`` are the journal's."""
        if self.last_t_s is not None and record.t_s <= self.last_t_s:
            return
        start = start_at(starts, record.t_s)
        observed = record.observation
        if self.last_t_s is not None:
            ticks_missing = record.t_s - self.last_t_s > longest_gap_s(start)
            size = None if ticks_missing else (self.last_executors, self.last_slots)
            for date, passed_s in _by_day(self.last_t_s, record.t_s):
                _pass(self._day(date), passed_s, size, record, start)
        if self.first_t_s is None:
            self.first_t_s = record.t_s
        if self.first_size is None and observed and observed.size:
            self.first_size = observed.size
        self._note_change(record)
        self.last_t_s = record.t_s
        self.last_executors = observed.executors if observed else None
        self.last_slots = observed.slots_per_executor if observed else None

    def _note_change(self, record: Record) -> None:
        if record.target is None:
            return
        before = self.last_target if self.last_target is not None else record.size
        if before is not None and before != record.target:
            self.last_change = Change(
                t_s=record.t_s,
                before=before,
                after=record.target,
                reason=record.reason,
                guard=record.guards[-1].guard if record.guards else None,
            )
            self._day(date_of(record.t_s)).changes += 1
        self.last_target = record.target

    def _day(self, date: str) -> Day:
        if date not in self.days:
            self.days[date] = Day()
            for old in sorted(self.days)[:-MOST_DAYS]:
                del self.days[old]
        return self.days[date]


def longest_gap_s(start: Start | None) -> float:
    """Return the longest normal time between two records: three intervals, at least 15 s."""
    interval_s = start.interval_s if start else _USUAL_INTERVAL_S
    return max(_LEAST_GAP_S, _TICKS_MISSING * interval_s)


def late(observation: Observation, slo_s: float) -> bool | None:
    """Return whether rows that arrive now are late: the latency of the last batch, or the time of
    the running one, exceeds the objective. None if the latency is unknown.
    """
    running_s = observation.in_flight.elapsed_s if observation.in_flight else 0.0
    if running_s > slo_s:
        return True
    return None if observation.latency_s is None else observation.latency_s > slo_s


def mean_parts(batches: Iterable[Mapping[str, float] | None]) -> dict[str, float]:
    """Return the mean time (s) of each phase over the batches whose phases are known."""
    known = [parts for parts in batches if parts]
    names = sorted({name for parts in known for name in parts})
    return {name: sum(parts.get(name, 0.0) for parts in known) / len(known) for name in names}


def totals_of(read: dict[str, Any]) -> Totals:
    """Return the totals of JSON values; raises TypeError or KeyError for other values."""
    change = read["last_change"]
    return Totals(
        **{
            **read,
            "days": {date: Day(**day) for date, day in read["days"].items()},
            "last_change": Change(**change) if change else None,
        }
    )


def _pass(
    day: Day,
    passed_s: float,
    size: tuple[int | None, int | None] | None,
    record: Record,
    start: Start | None,
) -> None:
    """Add time at a size, given as executors and slots per executor."""
    executors, slots = size or (None, None)
    if executors is None or slots is None:
        day.unknown_s += passed_s
        return
    day.known_s += passed_s
    pass_rows(day, passed_s, record, start)
    if start and start.mode == SHADOW:
        day.shadow_s += passed_s
        return
    one_slot_s = slots * passed_s
    day.slot_s += (executors + (start.standby if start else 0)) * one_slot_s
    day.one_slot_s += one_slot_s
    if start:
        day.max_known_s += passed_s
        # A maximum that is only a default follows a larger application.
        least = 0 if start.limits_given else executors
        day.max_slot_s += max(start.max_executors, least) * one_slot_s


def pass_rows(day: Day, passed_s: float, record: Record, start: Start | None) -> None:
    """Add the rows of a time (s), if their number and latency are known: of each query, and in
    total of those with the highest priority.
    """
    for query in record.queries:
        if rows := _rows(query, passed_s, start):
            day.count(query.query or "unnamed", *rows)
    single = (record.observation,) if record.observation else ()
    important = most_important(record.queries or single)
    counted = [rows for query in important if (rows := _rows(query, passed_s, start))]
    if not counted or len(counted) < len(important):
        day.rows_unknown_s += passed_s
        return
    day.rows += sum(rows for rows, _ in counted)
    day.late_rows += sum(late_rows for _, late_rows in counted)


def _rows(query: Observation, passed_s: float, start: Start | None) -> tuple[float, float] | None:
    """Return the rows of a query in a time (s) and how many are late; None if unknown."""
    slo_s = start.slo_s / (query.objective_share or 1.0) if start else None
    is_late = None if slo_s is None else late(query, slo_s)
    if query.input_rows_per_s is None or is_late is None:
        return None
    rows = query.input_rows_per_s * passed_s
    return rows, rows * is_late


def _by_day(from_s: float, to_s: float) -> Iterator[tuple[str, float]]:
    """Yield the seconds of each UTC day between two times; nothing if the clock was set back."""
    from_s = max(from_s, to_s - MOST_DAYS * DAY_S)
    while from_s < to_s:
        end_s = min(to_s, (from_s // DAY_S + 1) * DAY_S)
        yield date_of(from_s), end_s - from_s
        from_s = end_s


def date_of(t_s: float) -> str:
    """Return the UTC date of a Unix time."""
    return datetime.fromtimestamp(t_s, tz=timezone.utc).date().isoformat()
