"""What happened to a job beside its decisions: starts and restarts, times without records, changes
of size by others, and the reason that has held for most decisions at the newest target.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rheostat.journal.explanation import format_duration, when
from rheostat.journal.starts import SHADOW, Start, start_at
from rheostat.journal.totals import longest_gap_s
from rheostat.model import Record
from rheostat.protocols.conflict_history import OTHER

_NUMBERS = re.compile(r"\d[\d,.]*")

Line = tuple[float, str]
"""A time, and what happened then."""


class History:
    """Collects what happened while the records of a journal pass, with its ``starts``."""

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
        """Yield the records as they are."""
        for record in records:
            self._add(record)
            yield record

    def lines(self) -> list[Line]:
        """Return what happened, once all records have passed."""
        return sorted([*self._lines, *map(self._start_line, self._starts)])

    def unchanged(self) -> str:
        """Return for how long the newest target has held, and the reason of most decisions since;
        empty without a decision.
        """
        if self._target is None or self._previous is None:
            return ""
        kind, count = self._reasons.most_common(1)[0]
        passed = format_duration(self._previous.t_s - self._target_s)
        share = count / self._reasons.total()
        return (
            f"The target has been {self._target} executor{'s' * (self._target != 1)} for {passed};"
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
        reason = _reason(record)
        kind = _NUMBERS.sub("#", reason)
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
        before = previous.observation.size if previous.observation else None
        after = record.observation.size if record.observation else None
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


def _reason(record: Record) -> str:
    if record.guards:
        return record.guards[-1].reason
    return record.raw.reason if record.raw else "no decision"
