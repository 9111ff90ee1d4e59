"""A record of the loop in words: what was decided, what was seen, what the policy wanted, what each
guard allowed, where the rescaling stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timezone

from rheostat.model import Decision, GuardChange, Observation, Record

_EPOCH_S = 1e8
"""Smaller times are not counted from 1970 (a simulation, a test)."""


def when(t_s: float) -> str:
    """Return a time as people write it, in UTC; a time that is not counted from 1970 as seconds."""
    if t_s < _EPOCH_S:
        return f"{t_s:g} s"
    return f"{datetime.fromtimestamp(t_s, tz=timezone.utc):%Y-%m-%d %H:%M:%S} UTC ({t_s:.15g})"


def explain(record: Record) -> list[str]:
    """Return a record as lines: what was decided, then what was seen, wanted and allowed."""
    lines = [f"{when(record.t_s)}: {verdict(record)}", f"  seen: {seen(record.observation)}"]
    if record.raw:
        lines += [_wanted(record.raw), *_allowed(record.raw, record.guards)]
    lines += [f"  also: {action}" for action in record.actions]
    return [*lines, f"  rescaling: {record.rescaling}"]


def verdict(record: Record) -> str:
    """Return in one line the size that stood, what was decided, what the policy wanted, and which
    guards allowed no more: ``6 -> 8 executors: wanted 9, allowed 8 (bounds)``.
    """
    size = record.observation.size if record.observation else None
    if record.rescaling.phase == "halted":
        return record.rescaling.detail
    if record.target is None:
        return "nothing was decided"
    executors = f"{record.target} executor{'s' * (record.target != 1)}"
    sizes = f"stay at {executors}" if size in (None, record.target) else f"{size} -> {executors}"
    if not record.raw or not record.guards:
        return sizes
    by = ", ".join(change.guard for change in record.guards)
    return f"{sizes}: wanted {record.raw.target}, allowed {record.target} ({by})"


def _wanted(raw: Decision) -> str:
    numbers = ", ".join(
        f"{name} {_number(value)}" for name, value in raw.evidence.items() if value is not None
    )
    said = f"  wanted {raw.target}: {raw.reason}"
    return f"{said} [{numbers}]" if numbers else said


def _allowed(raw: Decision, guards: Iterable[GuardChange]) -> list[str]:
    """Return a line for each guard that changed the target; its reason repeats what was wanted
    before it, which is left out.
    """
    lines, before = [], raw.reason
    for change in guards:
        # Each guard appends to the reason of the one before, so that a single reason says all.
        own = change.reason.removeprefix(before).removeprefix("; ")
        lines.append(f"  allowed {change.after}, not {change.before}, by {change.guard}: {own}")
        before = change.reason
    return lines or [f"  allowed {raw.target}: no guard changed that"]


def seen(observation: Observation | None) -> str:
    """Return what was seen in one line; what is absent is left out."""
    if observation is None:
        return "no query"
    o = observation
    parts = [
        _said(o.executors, "executor" if o.executors == 1 else "executors"),
        _said(o.input_rows_per_s, "rows/s arrive"),
        _said(o.processed_rows_per_s, "rows/s are read"),
        _said(o.lag_rows, "row waits" if o.lag_rows == 1 else "rows wait"),
        _said(o.lag_s, "s has the oldest waited"),
        _said(o.lag_littles_law_s, "s is their wait by Little's law"),
        "the Kafka broker does not answer" if o.broker_up is False else "",
        _said(o.latency_s, "s is the latency of a row"),
        _said(o.batch_s, "s is the last batch"),
        _said(o.in_flight.elapsed_s if o.in_flight else None, "s has the next one run"),
        _share(o.busy, "of the slots' time is busy"),
        _share(o.cpu, "CPU"),
        _said(o.backpressure_ms_per_s, "ms/s backpressure"),
    ]
    return ", ".join(part for part in parts if part) or "nothing but the time"


def changes(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records that ask for another size than the one that stands or for something else,
    once while nothing changes, and the beginning and the end of a halt.
    """
    before: tuple[int | None, int | None] | None = None
    halted = False
    also: tuple[str, ...] = ()
    for record in records:
        asked = (record.observation.size if record.observation else None, record.target)
        is_halt = record.rescaling.phase == "halted"
        # While executors are on their way, the same change is asked for at every tick.
        if (record.target is not None and asked[0] != asked[1] and asked != before) or (
            (is_halt != halted) or (record.actions and record.actions != also)
        ):
            yield record
        before, halted = asked, is_halt
        also = record.actions or also


def _number(value: float | int | str | None) -> str:
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def _said(value: float | None, what: str) -> str:
    return "" if value is None else f"{_number(value)} {what}"


def _share(value: float | None, what: str) -> str:
    return "" if value is None else f"{value:.0%} {what}"
