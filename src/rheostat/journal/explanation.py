"""Describes a record of the loop: what was decided, observed, wanted by the policy and allowed by
each guard, and the progress of the rescaling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone

from rheostat.journal.binding_constraint import applied_guard
from rheostat.journal.events import allowances
from rheostat.journal.evidence_terms import term
from rheostat.journal.starts import SHADOW, Start, start_at
from rheostat.journal.totals import longest_gap_s
from rheostat.model import Decision, Observation, Record
from rheostat.plural import counted
from rheostat.protocols.size_in_force import OTHER
from rheostat.signals.application import most_important

_EPOCH_S = 1e8
"""Times below this are not in seconds since 1970 (a simulation, a test)."""

_NUMBERS = re.compile(r"\d[\d,.]*")

Line = tuple[float, str]
"""A time and the description of what happened then."""


def when(t_s: float) -> str:
    """Return a time in UTC; a time that does not count from 1970 in seconds."""
    if t_s < _EPOCH_S:
        return f"{t_s:g} s"
    return f"{datetime.fromtimestamp(t_s, tz=timezone.utc):%Y-%m-%d %H:%M:%S} UTC ({t_s:.15g})"


def format_duration(seconds: float) -> str:
    """Return a duration in its two largest units."""
    rounded = max(0, round(seconds))
    units = (("d", rounded // 86_400), ("h", rounded // 3600 % 24), ("min", rounded // 60 % 60))
    parts = [f"{count} {unit}" for unit, count in (*units, ("s", rounded % 60)) if count]
    return " ".join(parts[:2]) or "0 s"


def explain(record: Record) -> list[str]:
    """Return a record as lines: the decision, then what was observed, wanted and allowed."""
    observed = format_observation(record.observation)
    lines = [f"{when(record.t_s)}: {verdict(record)}", f"  observed: {observed}"]
    important = most_important(record.queries)
    lines += [f"    {_query(query, query in important)}" for query in record.queries]
    if record.raw:
        lines += [_wanted(record.raw), *_allowed(record)]
    lines += [f"  also: {action}" for action in record.actions]
    return [*lines, f"  rescaling: {record.rescaling}"]


def verdict(record: Record) -> str:
    """Return one line with the size before, the decision, the size that the policy wanted, and the
    guard that set the target: ``6 -> 8 executors: wanted 9, allowed 8 (bounds)``.
    """
    size = record.size
    if record.rescaling.phase == "halted":
        return record.rescaling.detail
    if record.target is None:
        return "nothing was decided"
    executors = counted(record.target, "executor")
    sizes = f"stay at {executors}" if size in (None, record.target) else f"{size} -> {executors}"
    applied = applied_guard(record)
    if not record.raw or applied is None:
        return sizes
    return f"{sizes}: wanted {record.raw.target}, allowed {record.target} ({applied.guard})"


def _wanted(raw: Decision) -> str:
    numbers = "; ".join(
        _evidence(name, value) for name, value in raw.evidence.items() if value is not None
    )
    line = f"  wanted {raw.target}: {raw.reason}"
    return f"{line} [{numbers}]" if numbers else line


def _evidence(name: str, value: float | int | str) -> str:
    """Return a number of a decision with its name and unit."""
    known = term(name)
    if known.unit == "share":
        return f"{known.words}: {value if isinstance(value, str) else f'{value:.3%}'}"
    return f"{known.words}: {_number(value)} {known.unit}".rstrip()


def _allowed(record: Record) -> list[str]:
    """Return one line per guard that changed the target, with its own part of the reason."""
    lines = [f"  allowed {c.after}, not {c.before}, by {why}" for c, why in allowances(record)]
    wanted = record.raw.target if record.raw else None
    return lines or [f"  allowed {wanted}: no guard changed that"]


def format_observation(observation: Observation | None) -> str:
    """Return an observation in one line, without its absent signals."""
    if observation is None:
        return "no query"
    o = observation
    running_s = o.in_flight.elapsed_s if o.in_flight else None
    parts = [
        _item("", o.executors, " executor" if o.executors == 1 else " executors"),
        _item("", o.input_rows_per_s, " rows/s arrive"),
        _item("", o.processed_rows_per_s, " rows/s are processed"),
        _item("backlog ", o.lag_rows, " row" if o.lag_rows == 1 else " rows"),
        _item("the oldest row has waited ", o.lag_s, " s"),
        _item("mean wait by Little's law ", o.lag_littles_law_s, " s"),
        "the Kafka broker does not answer" if o.broker_up is False else "",
        _item("latency of a row ", o.latency_s, " s"),
        _item("last batch ", o.batch_s, " s"),
        _item("the current batch has been running for ", running_s, " s"),
        _share("slots busy ", o.busy),
        _share("CPU ", o.cpu),
        _item("backpressure ", o.backpressure_ms_per_s, " ms/s"),
    ]
    return ", ".join(part for part in parts if part) or "no signals"


def changes(records: Iterable[Record]) -> Iterator[Record]:
    """Yield each new request of a size or action once, and the beginning and end of each halt."""
    before: tuple[int | None, int | None] | None = None
    halted = False
    also: tuple[str, ...] = ()
    for record in records:
        sizes = record.size, record.target
        is_halt = record.rescaling.phase == "halted"
        # While executors start, every tick requests the same change.
        if (record.target is not None and sizes[0] != sizes[1] and sizes != before) or (
            (is_halt != halted) or (record.actions and record.actions != also)
        ):
            yield record
        before, halted = sizes, is_halt
        also = record.actions or also


def _number(value: float | int | str | None) -> str:
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def _query(query: Observation, is_important: bool) -> str:
    """Return one of several queries with what its objective and its priority mean."""
    share, name = query.objective_share, query.query or "unnamed"
    unimportant = f"priority {query.priority or 1:g}: late rows spend no error budget"
    weights = (f"its times count {share:.0%}" if share else "", "" if is_important else unimportant)
    weight = "; ".join(filter(None, weights))
    named = f"{name} ({weight})" if weight else name
    return f"{named}: {format_observation(query)}"


def _item(before: str, value: float | None, after: str) -> str:
    return "" if value is None else f"{before}{_number(value)}{after}"


def _share(before: str, value: float | None) -> str:
    return "" if value is None else f"{before}{value:.0%}"


def kind_of_reason(reason: str) -> str:
    """Return a reason without its numbers, so that equal reasons with different numbers match."""
    return _NUMBERS.sub("#", reason)


class History:
    """Collects the history of a journal with the given starts while its records pass through."""

    def __init__(self, starts: Sequence[Start] = ()) -> None:
        self._starts = starts
        self._lines: list[Line] = []
        self._previous: Record | None = None
        self._before_start: dict[Start, float] = {}
        self._target: int | None = None
        self._target_s = 0.0
        self._reasons: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def passing(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records unchanged."""
        for record in records:
            self._add(record)
            yield record

    def lines(self) -> list[Line]:
        """Return the history, after all records have passed."""
        return sorted([*self._lines, *map(self._start_line, self._starts)])

    def unchanged(self) -> str:
        """Return how long the target has held and the most frequent reason; empty without one."""
        if self._target is None or self._previous is None:
            return ""
        kind, count = self._reasons.most_common(1)[0]
        passed = format_duration(self._previous.t_s - self._target_s)
        share = count / self._reasons.total()
        return (
            f"The target has been {counted(self._target, 'executor')} for {passed};"
            f" {share:.0%} of the decisions since gave this reason: {self._examples[kind]}"
        )

    def _add(self, record: Record) -> None:
        if OTHER in record.rescaling.detail:
            self._note(record, record.rescaling.detail)
        if self._previous is not None:
            self._compare(self._previous, record)
        self._previous = record
        if record.target is None:
            return
        if record.target != self._target:
            self._target, self._target_s = record.target, record.t_s
            self._reasons.clear()
        reason = record.reason or "no decision"
        kind = kind_of_reason(reason)
        self._reasons[kind] += 1
        self._examples[kind] = reason

    def _compare(self, previous: Record, record: Record) -> None:
        start = start_at(self._starts, record.t_s)
        if start is not None and not start.directed and start.t_s > previous.t_s:
            self._before_start[start] = previous.t_s
            return
        gap_s = record.t_s - previous.t_s
        if gap_s > longest_gap_s(start):
            gap = format_duration(gap_s)
            self._note(record, f"no record for {gap} before: the driver was down or did not decide")
            return
        before, after = previous.size, record.size
        decided = None if start and start.mode == SHADOW else previous.target
        if before is not None and after is not None and after not in (before, decided):
            sizes = f"the size changed from {before} to {after} executors"
            self._note(record, f"{sizes} without a decision of Rheostat")

    def _note(self, record: Record, event: str) -> None:
        self._lines.append((record.t_s, f"{when(record.t_s)}: {event}"))

    def _start_line(self, start: Start) -> Line:
        before_s = self._before_start.get(start)
        event = "the autoscaler started"
        if start.directed:
            event = "the settings were changed from outside"
        elif before_s is not None:
            gap = format_duration(start.t_s - before_s)
            event = f"the driver was restarted, {gap} after the last record"
        process = f", process {start.pid} on {start.host}" if start.pid else ""
        return start.t_s, (
            f"{when(start.t_s)}: {event}: {start.mode} mode, policy {start.policy},"
            f" {start.min_executors} to {start.max_executors} executors, objective"
            f" {start.slo_s:g} s{process}"
        )
