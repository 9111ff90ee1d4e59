"""A record of the loop in words: what was seen, what the policy wanted, what each guard changed,
where the rescaling stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timezone

from rheostat.model import Observation, Record

_EPOCH_S = 1e8
"""Smaller times are not counted from 1970 (a simulation, a test)."""


def when(t_s: float) -> str:
    """Return a time as people write it, in UTC; a time that is not counted from 1970 as seconds."""
    if t_s < _EPOCH_S:
        return f"{t_s:g} s"
    return f"{datetime.fromtimestamp(t_s, tz=timezone.utc):%Y-%m-%d %H:%M:%S} UTC ({t_s:.15g})"


def explain(record: Record) -> list[str]:
    """Return a record as lines of text."""
    size = record.observation.size if record.observation else None
    head = f"{when(record.t_s)}: {_verdict(size, record.target)}"
    lines = [head, f"  seen: {seen(record.observation)}"]
    if record.raw:
        wanted = f"  the policy wanted {record.raw.target}: {record.raw.reason}"
        numbers = ", ".join(
            f"{name} {_number(value)}"
            for name, value in record.raw.evidence.items()
            if value is not None
        )
        lines += [f"{wanted} [{numbers}]" if numbers else wanted]
        lines += [
            f"  {change.guard} changed {change.before} to {change.after}: {change.reason}"
            for change in record.guards
        ]
        lines += [] if record.guards else ["  no guard changed that"]
    lines += [f"  also: {action}" for action in record.actions]
    return [
        *lines,
        f"  rescaling: {record.rescaling.phase}"
        + (f", {record.rescaling.detail}" if record.rescaling.detail else ""),
    ]


def seen(observation: Observation | None) -> str:
    """Return what was seen in one line; what is absent is left out."""
    if observation is None:
        return "no query"
    o = observation
    parts = [
        _said(o.executors, "executors"),
        _said(o.input_rows_per_s, "rows/s arrive"),
        _said(o.processed_rows_per_s, "rows/s are read"),
        _said(o.lag_rows, "rows wait"),
        _said(o.lag_s, "s is their wait"),
        _said(o.latency_s, "s is the latency of a row"),
        _said(o.batch_s, "s is the last batch"),
        _said(o.in_flight.elapsed_s if o.in_flight else None, "s has the next one run"),
        _share(o.busy, "of the slots' time is busy"),
        _share(o.cpu, "CPU"),
        _said(o.backpressure_ms_per_s, "ms/s backpressure"),
    ]
    return ", ".join(part for part in parts if part) or "nothing but the time"


def changes(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records that ask for another size than the one that stands, once while nothing
    changes, and the beginning of a halt.
    """
    before: tuple[int | None, int | None] | None = None
    halted = False
    for record in records:
        asked = (record.observation.size if record.observation else None, record.target)
        is_halt = record.rescaling.phase == "halted"
        if (record.target is not None and asked[0] != asked[1] and asked != before) or (
            is_halt and not halted
        ):
            yield record
        before, halted = asked, is_halt


def _verdict(size: int | None, target: int | None) -> str:
    if target is None:
        return "nothing was decided"
    if size is None or target == size:
        return f"stay at {target} executor{'s' * (target != 1)}"
    return (
        f"{'out' if target > size else 'in'} from {size} to {target} executor{'s' * (target != 1)}"
    )


def _number(value: float | int | str | None) -> str:
    return (
        f"{value:.4g}"
        if isinstance(value, float) and abs(value) < 1000
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value)
    )


def _said(value: float | None, what: str) -> str:
    return "" if value is None else f"{_number(value)} {what}"


def _share(value: float | None, what: str) -> str:
    return "" if value is None else f"{value:.0%} {what}"
