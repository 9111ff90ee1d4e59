"""The status of a job, from its journal alone: its state, its size and the reason, load and latency
against the objective, savings, and problems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.journal.binding_constraint import binding_constraint
from rheostat.journal.reading import last_record
from rheostat.journal.starts import (
    STOP_FILE,
    End,
    Event,
    Start,
    checkpoints_of,
    read_events,
    starts_of,
)
from rheostat.journal.summary import Summary, summarize
from rheostat.journal.totals import Change, Day, Totals, date_of, longest_gap_s
from rheostat.model import Observation, Record

MAX, BEFORE = "max", "before"
_HOUR_S = 3600.0

SCHEMA = 1

ALLOWED_LATE_SHARE = 0.01
"""The objective applies to 99 % of the rows (``Slo``)."""

Alive = Callable[[Start], bool | None]
"""Returns whether the process of a start still runs; None if that cannot be determined here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """The slot-hours of one or several days, compared with a fixed size; None is unknown.

    ``known_h`` are the measured hours, ``unknown_h`` those without decisions or without a size, and
    ``shadow_h`` those in shadow mode, in which nothing can be saved. ``late_rows`` are those of
    ``rows`` that arrived while the latency exceeded the objective; ``rows_unknown_h`` are measured
    hours with unknown rate, latency or objective.
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
    in_time_share: Mapping[str, float]
    """Rows in time as a share of all rows, for each of several queries."""

    @property
    def saved_slot_h(self) -> float | None:
        """Slot-hours that a fixed size would have used in addition."""
        return None if self.against_slot_h is None else self.against_slot_h - self.slot_h

    @property
    def saved_share(self) -> float | None:
        """The saved slot-hours as a share of the fixed size's slot-hours."""
        saved = self.saved_slot_h
        return saved / self.against_slot_h if saved is not None and self.against_slot_h else None

    @property
    def late_share(self) -> float | None:
        """Late rows as a share of all rows; None without rows."""
        return self.late_rows / self.rows if self.rows else None


def saving(day: Day, against: str | int, size_before: int | None) -> Saving:
    """Return the saving of a day compared with ``max`` (the maximum then in force), ``before`` (the
    size before Rheostat, None if unknown) or a number of executors.
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
        in_time_share={name: 1 - late / rows for name, (rows, late) in day.queries.items() if rows},
    )


def saving_json(value: Saving) -> dict[str, Any]:
    """Return a saving as JSON values, with what is derived from it."""
    derived = ("saved_slot_h", "saved_share", "late_share")
    return asdict(value) | {name: getattr(value, name) for name in derived}


def total(days: Mapping[str, Day]) -> Day:
    """Return the sum of the days."""
    result = Day()
    for day in days.values():
        result.add(day)
    return result


def against_of(text: str) -> str | int:
    """Return ``--against`` as a number, ``max`` or ``before``; raises BadInput for other texts."""
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
        # A maximum that is known for only part of the time gives no comparison.
        return day.max_slot_s / _HOUR_S if day.max_known_s >= live_s - 1e-6 * live_s else None
    size = size_before if against == BEFORE else int(against)
    return None if size is None else size * day.one_slot_s / _HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A job at one moment; None is unknown.

    ``state`` is ``starting``, ``running``, ``silent`` (the process runs but decides nothing),
    ``ended`` or ``dead``, since ``since_s``. ``wanted`` is the policy's size, ``target`` the size
    after the guards. ``today`` is the current UTC day. ``problems`` is empty for a healthy job.
    """

    journal: str
    application: str | None
    state: str
    since_s: float | None
    starts: int
    start: Start | None
    last_t_s: float | None
    age_s: float | None
    executors: int | None = None
    slots_per_executor: int | None = None
    target: int | None = None
    wanted: int | None = None
    phase: str | None = None
    detail: str = ""
    reason: str = ""
    input_rows_per_s: float | None = None
    lag_rows: float | None = None
    lag_s: float | None = None
    latency_s: float | None = None
    running_batch_s: float | None = None
    broker_up: bool | None = None
    binding: str | None = None
    schedule: str = ""
    last_change: Change | None = None
    halted: bool = False
    kill_switch: str = ""
    checkpoints: tuple[str, ...] = ()
    size_before: int | None = None
    today: Saving | None = None
    against_max: Saving | None = None
    against_before: Saving | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_between_runs(self) -> bool:
        """Whether no query is running, and executors are released then (``min=0``)."""
        keeps_none = self.start is not None and self.start.min_executors == 0
        return keeps_none and self.phase == "idle" and self.executors is None

    @property
    def waiting_s(self) -> float:
        """The longest of latency, time of the running batch and wait of the oldest row, seconds."""
        waits = (self.latency_s, self.running_batch_s, self.lag_s)
        return max(filter(None, waits), default=0.0)


def job_status(
    folder: Path,
    now: float,
    alive: Alive = lambda _: None,
    read: tuple[Summary, Record | None] | None = None,
) -> JobStatus:
    """Return the status of a journal's job at ``now``, from the summary and newest records;
    ``read`` is what ``summarize`` returned, if it was called already.
    """
    events = read_events(folder)
    summary, record = read or summarize(folder)
    record = record or last_record(folder)
    starts, totals = starts_of(events), summary.totals
    start = starts[-1] if starts else None
    processes = [begun for begun in starts if not begun.directed]
    before, all_days = size_before(totals, starts), total(totals.days)
    status = JobStatus(
        journal=str(folder),
        application=(start.application if start else None)
        or (record.observation.application if record and record.observation else None),
        start=start,
        starts=len(processes),
        schedule=_schedule(start, now),
        last_change=totals.last_change,
        kill_switch=str(folder / STOP_FILE),
        checkpoints=tuple(dict.fromkeys(checkpoints_of(events))),
        size_before=before,
        today=saving(totals.days.get(date_of(now), Day()), MAX, before),
        against_max=saving(all_days, MAX, before),
        against_before=saving(all_days, BEFORE, before),
        last_t_s=record.t_s if record else None,
        age_s=None if record is None else now - record.t_s,
        halted=(folder / STOP_FILE).exists()
        or (record is not None and record.rescaling.phase == "halted"),
        **_lifetime(events, processes[-1] if processes else None, record, now, alive),
        **_of_record(record),
    )
    return replace(status, problems=tuple(_problems(status)))


def size_before(totals: Totals, starts: list[Start]) -> int | None:
    """Return the size of a job when Rheostat was first attached; None if Rheostat started the job,
    or if an older journal does not record it.
    """
    return totals.first_size if starts and not starts[0].launched else None


def status_json(status: JobStatus) -> dict[str, Any]:
    """Return a status as JSON values, including ``healthy``."""
    names = ("today", "against_max", "against_before")
    savings = {name: saving_json(value) for name in names if (value := getattr(status, name))}
    return {"schema": SCHEMA, "healthy": not status.problems, **asdict(status), **savings}


def _schedule(start: Start | None, now: float) -> str:
    """Return a description of the scheduled limits in force; empty without a schedule."""
    if start is None or not (start.floor or start.ceiling):
        return ""
    # Imported here, because most jobs have no schedule and need not wait for the import.
    from rheostat.guards.schedule import schedule_text

    return schedule_text(start.floor, start.ceiling, now)


def _lifetime(
    events: list[Event], start: Start | None, record: Record | None, now: float, alive: Alive
) -> dict[str, Any]:
    """Return ``state`` and ``since_s``."""
    ends = [event for event in events if isinstance(event, End)]
    begun_s = start.t_s if start else None
    if ends and (begun_s is None or ends[-1].t_s >= begun_s):
        return {"state": "ended", "since_s": ends[-1].t_s}
    newest_s = max(filter(None, (begun_s, record.t_s if record else None)), default=None)
    is_recent = newest_s is not None and now - newest_s <= longest_gap_s(start)
    lives = alive(start) if start else None
    if lives is not False and is_recent:
        is_new = record is None or (begun_s is not None and record.t_s < begun_s)
        return {"state": "starting" if is_new else "running", "since_s": begun_s}
    last_s = None if newest_s is None else newest_s + (start.interval_s if start else 0.0)
    return {"state": "silent" if lives else "dead", "since_s": last_s}


def _of_record(record: Record | None) -> dict[str, Any]:
    if record is None:
        return {}
    observed = record.observation or Observation(t_s=record.t_s)
    return {
        "target": observed.size if record.target is None else record.target,
        "wanted": record.raw.target if record.raw else None,
        "reason": record.raw.reason if record.raw else "",
        "phase": record.rescaling.phase,
        "detail": record.rescaling.detail,
        "binding": binding_constraint(record),
        "executors": observed.executors,
        "slots_per_executor": observed.slots_per_executor,
        "input_rows_per_s": observed.input_rows_per_s,
        "lag_rows": observed.lag_rows,
        "lag_s": observed.lag_s,
        "latency_s": observed.latency_s,
        "running_batch_s": observed.in_flight.elapsed_s if observed.in_flight else None,
        "broker_up": observed.broker_up,
    }


def _problems(status: JobStatus) -> list[str]:
    slo_s = status.start.slo_s if status.start else None
    late = status.today.late_share if status.today else None
    is_up = status.state in ("running", "starting")
    checks = {
        f"the autoscaler is {status.state}": not is_up,
        f"the kill switch is set: {status.detail or 'nothing is decided'}": status.halted,
        f"the last decision failed: {status.detail}": is_up and status.phase == "failed",
        "no query is running": (
            is_up
            and status.phase == "idle"
            and status.executors is None
            and not status.is_between_runs
        ),
        f"the rescaling is blocked: {status.detail}": is_up and status.phase == "blocked",
        "the Kafka broker is unreachable": is_up and status.broker_up is False,
    }
    problems = [text for text, holds in checks.items() if holds]
    if is_up and slo_s is not None and status.waiting_s > slo_s:
        problems.append(f"the latency is {status.waiting_s:.1f} s, the objective {slo_s:g} s")
    if late is not None and late > ALLOWED_LATE_SHARE:
        problems.append(f"{late:.1%} of today's rows were late, 1 % is allowed")
    return problems
