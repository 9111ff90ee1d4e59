"""Reads the data of a job's page from its journal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from rheostat.control.health import health
from rheostat.control.journal_series import WIDTH_S, JournalSeries
from rheostat.control.series import Bucket, columns, most_frequent, resample
from rheostat.journal.events import allowances
from rheostat.journal.evidence_terms import term
from rheostat.journal.explanation import explain, format_observation, verdict
from rheostat.journal.job_status import (
    BEFORE,
    MAX,
    Alive,
    job_status,
    saving,
    saving_json,
    status_json,
    total,
)
from rheostat.journal.reading import last_record, newest_with, record_at
from rheostat.journal.retention import segments
from rheostat.journal.starts import STARTS_FILE, STOP_FILE, Command, Start, read_events, starts_of
from rheostat.journal.summary import summarize
from rheostat.journal.totals import DAY_S, Totals, date_of, longest_gap_s
from rheostat.model import Observation, Record
from rheostat.state.places import holders_of

_LATE_S = _MOVES_S = 600.0
_PLACES_S = 3600.0 + _MOVES_S + 120.0
"""Seconds to search back for a record of the places of state: live jobs write one every hour."""
_MOST_POINTS = 2000
_MOST_DECISIONS = 500


class JournalJob:
    """Answers the requests of a page about one journal, from any thread, without writing."""

    def __init__(
        self,
        folder: Path,
        alive: Alive = lambda _: None,
        name: str = "",
        clock: Callable[[], float] = time.time,
        refresh: Callable[[], object] = lambda: None,
    ) -> None:
        self.folder, self.address = folder, str(folder.resolve())
        self.name = name or folder.name
        self._alive = alive
        self._clock = clock
        self._refresh = refresh
        self._series = JournalSeries(folder)
        self._overview: tuple[Any, dict[str, Any]] | None = None

    def version(self) -> tuple[Any, ...]:
        """Return a value that changes with every record and event; costs a few ``stat`` calls."""
        self._refresh()
        newest = segments(self.folder)[-1:]
        paths = [*newest, self.folder / STARTS_FILE, self.folder / STOP_FILE]
        return tuple((path.name, *_stat(path)) for path in paths)

    def overview(self) -> dict[str, Any]:
        """Return status, health and cost."""
        now = self._clock()
        version = (self.version(), int(now // 5))
        cached = self._overview
        if cached and cached[0] == version:
            return cached[1]
        read = summarize(self.folder)
        status = job_status(self.folder, now, self._alive, read)
        late_share = self._late_share(status.last_t_s)
        answer = {
            **status_json(status),
            "name": status.application or self.name,
            "now_s": now,
            "health": asdict(health(status, late_share)),
            "late_share_10min": late_share,
            "week": _week(read[0].totals, status.size_before, now),
            "price": status.start.price if status.start else None,
        }
        self._overview = version, answer
        return answer

    def series(self, from_s: float | None, to_s: float | None, points: int) -> dict[str, Any]:
        """Return the columns of the charts between two times; None means the first or the last."""
        points = max(10, min(points, _MOST_POINTS))
        extent = self._series.extent()
        buckets, starts, width_s = self._between(extent, from_s, to_s, points)
        if not buckets:
            return {"t": [], "first_s": None, "last_s": None}
        shown = list(resample(buckets, width_s)) if len(buckets) > points else buckets
        gap_s = max(longest_gap_s(starts[-1] if starts else None), 3 * width_s)
        if any(bucket.ticks > 1 for bucket in shown[:2]):
            gap_s = max(gap_s, 3 * WIDTH_S)
        return {**columns(shown, starts, gap_s), "first_s": extent[0], "last_s": extent[1]}

    def decisions(self, from_s: float | None, to_s: float | None) -> list[dict[str, Any]]:
        """Return changes between two times, and reasons for no change, the newest first."""
        extent = self._series.extent()
        buckets, starts, _ = self._between(extent, from_s, to_s, _MOST_POINTS // 2)
        commands = [item for item in read_events(self.folder) if isinstance(item, Command)]
        entries = [*_entries(buckets), *map(_start_entry, starts), *map(_command_entry, commands)]
        inside = [
            entry
            for entry in entries
            if (from_s is None or entry["t_s"] >= from_s) and (to_s is None or entry["t_s"] <= to_s)
        ]
        return sorted(inside, key=lambda entry: -entry["t_s"])[:_MOST_DECISIONS]

    def record(self, at_s: float) -> dict[str, Any] | None:
        """Return the decision at a time with its evidence and what each guard changed."""
        record = last_record(self.folder)
        if record is not None and record.t_s > at_s:
            record = record_at(self.folder, at_s)
        if record is None:
            return None
        return {**record_json(record), "state": _state_by_executor(self.folder, record.t_s)}

    def _late_share(self, last_s: float | None) -> float | None:
        if last_s is None:
            return None
        buckets, _ = self._series.between(last_s - _LATE_S, None)
        rows = sum(bucket.rows for bucket in buckets)
        return sum(bucket.late_rows for bucket in buckets) / rows if rows else None

    def _between(
        self,
        extent: tuple[float | None, float | None],
        from_s: float | None,
        to_s: float | None,
        points: int,
    ) -> tuple[list[Bucket], list[Start], float]:
        """Return the buckets between two times, the starts, and the seconds per point."""
        if extent[0] is None or extent[1] is None:
            return [], starts_of(read_events(self.folder)), 0.0
        begin_s, end_s = max(extent[0], from_s or 0.0), min(extent[1], to_s or extent[1])
        width_s = max(0.0, end_s - begin_s) / points
        return *self._series.between(from_s, to_s, width_s), width_s


def record_json(record: Record) -> dict[str, Any]:
    """Return a record in the form of the page: as text, with evidence, guards and executors."""
    observed, raw = record.observation or Observation(t_s=record.t_s), record.raw
    return {
        "t_s": record.t_s,
        "verdict": verdict(record),
        "observed": format_observation(record.observation),
        "wanted": raw.target if raw else None,
        "target": record.target,
        "size": observed.size,
        "reason": raw.reason if raw else "",
        "evidence": _evidence(raw.evidence) if raw else [],
        "guards": _guards(record),
        "actions": list(record.actions),
        "rescaling": str(record.rescaling),
        "executors": observed.executors,
        "slots": observed.slots_per_executor,
        "by_executor": {
            name: asdict(sample) for name, sample in (observed.by_executor or {}).items()
        },
        "lag_rows": observed.lag_rows,
        "lag_by_source": observed.lag_by_source,
        "state_partitions": observed.state_partitions,
        "state_bytes": observed.state_bytes,
        "in_flight": asdict(observed.in_flight) if observed.in_flight else None,
        "text": explain(record),
    }


def _state_by_executor(folder: Path, t_s: float) -> dict[str, Any]:
    """Return the state partitions of each executor at a time, and the previous executor of those
    that it received in the ten minutes before.
    """
    records = newest_with(folder, b'"places":', t_s - _PLACES_S, t_s)
    known = [(record.t_s, record.rescaling.places) for record in records]
    if not known:
        return {}
    after = holders_of(known[0][1])
    before = dict(after)
    for (later_s, _), (_, places) in pairwise(known):
        if later_s < t_s - _MOVES_S:
            break
        before |= {unit: holder for unit, holder in holders_of(places).items() if unit in after}
    states: dict[str, Any] = {}
    for (query, partition), executor in sorted(after.items()):
        label = f"{query}:{partition}" if len(known[0][1]) > 1 else str(partition)
        held = states.setdefault(executor, {"partitions": [], "received": {}})
        held["partitions"].append(label)
        sender = before[query, partition]
        if sender != executor:
            held["received"][label] = sender
    return states


def _guards(record: Record) -> list[dict[str, Any]]:
    return [
        {
            "guard": change.guard,
            "before": change.before,
            "after": change.after,
            "reason": text.partition(": ")[2],
        }
        for change, text in allowances(record)
    ]


def _evidence(evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"words": term(name).words, "unit": term(name).unit, "value": value}
        for name, value in evidence.items()
        if value is not None
    ]


def _entries(buckets: Sequence[Bucket]) -> Iterator[dict[str, Any]]:
    """Yield the changes, and between them the reasons for no change."""
    kept: list[Bucket] = []
    for bucket in buckets:
        if bucket.events:
            yield from _kept(kept)
            kept = []
        for t_s, before, after, guard, reason in bucket.events:
            kind = guard if guard in ("halted", "resumed") else "change"
            yield {
                "t_s": t_s,
                "kind": kind,
                "before": before,
                "after": after,
                "guard": guard,
                "reason": reason,
            }
        if not bucket.events:
            kept.append(bucket)
    yield from _kept(kept)


def _kept(buckets: Sequence[Bucket]) -> Iterator[dict[str, Any]]:
    counts = most_frequent((bucket.reasons for bucket in buckets), None)
    if not counts:
        return
    ticks = sum(counts.values())
    target = buckets[-1].target
    yield {
        "t_s": buckets[0].t_s,
        "end_s": buckets[-1].end_s,
        "kind": "kept",
        "before": target,
        "after": target,
        "reasons": [
            {"reason": text, "share": count / ticks} for text, count in islice(counts.items(), 3)
        ],
    }


def _start_entry(start: Start) -> dict[str, Any]:
    word = "settings changed" if start.directed else "started"
    return {
        "t_s": start.t_s,
        "kind": "start",
        "reason": f"{word}: {start.mode} mode, policy {start.policy}, {start.min_executors} to"
        f" {start.max_executors} executors, objective {start.slo_s:g} s",
    }


def _command_entry(command: Command) -> dict[str, Any]:
    reason = f"{command.action}, by {command.author}"
    return {"t_s": command.t_s, "kind": "command", "reason": reason}


def _week(totals: Totals, before: int | None, now: float) -> dict[str, Any]:
    """Return today's saving and those of the last seven days and of all, for both sizes."""
    dates = {date_of(now - day * DAY_S) for day in range(7)}
    days = {"today": {date_of(now)}, "week": dates, "all": set(totals.days)}
    savings: dict[str, Any] = {}
    for name, wanted in days.items():
        day = total({date: day for date, day in totals.days.items() if date in wanted})
        savings[name] = {
            against: saving_json(saving(day, against, before)) for against in (MAX, BEFORE)
        }
    return savings


def _stat(path: Path) -> tuple[float, int]:
    try:
        status = path.stat()
    except OSError:
        return 0.0, 0
    return status.st_mtime, status.st_size
