"""The status of a job as text: one screen, or one row of several."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from rheostat.journal.explanation import format_duration

Answer = Mapping[str, Any]
"""A status as ``status_json`` returns it."""

UNKNOWN = "unknown"
COLUMNS = ("job", "state", "size", "wanted", "rows/s", "latency", "late today", "saved", "problems")
_LABEL = 13


def lines_of(answer: Answer, now: float) -> list[str]:
    """Return the lines of one screen."""
    rows = {
        answer["application"] or answer["journal"]: _state(answer, now),
        "mode": _mode(answer),
        "size": _size(answer),
        "load": _load(answer),
        "today": _today(answer),
        "last change": _last_change(answer),
        "binding": answer["binding"] or "nothing",
        "schedule": answer["schedule"] or ("none" if answer["start"] else UNKNOWN),
        "broker": _broker(answer),
        "journal": answer["journal"],
        "checkpoints": ", ".join(answer["checkpoints"]) or UNKNOWN,
        "kill switch": "SET" if answer["halted"] else f"not set ({answer['kill_switch']})",
        "control": _start(answer).get("serve") or ("none" if answer["start"] else UNKNOWN),
        "savings": _saved(answer, "against_max", _max_name(answer)),
        "": _saved(answer, "against_before", _before_name(answer)),
    }
    title, first = next(iter(rows.items()))
    lines = [f"{title}: {first}"]
    lines += [f"  {label:{_LABEL}}{text}" for label, text in list(rows.items())[1:]]
    problems = answer["problems"] or ["healthy"]
    return [*lines, *(f"  {'' if n else 'problems':{_LABEL}}{p}" for n, p in enumerate(problems))]


def row_of(answer: Answer, now: float) -> tuple[str, ...]:
    """Return one row of ``COLUMNS``."""
    late = _share_late(answer["today"])
    against = answer["against_max"] or {}
    return (
        str(answer["application"] or answer["journal"]),
        f"{answer['state']} {_ago(answer['since_s'], now)}",
        _number(answer["executors"]),
        _number(answer["wanted"]),
        _number(answer["input_rows_per_s"]),
        _number(answer["latency_s"], " s"),
        UNKNOWN if late is None else f"{late:.2%}",
        _number(_less(against), " slot-h"),
        "; ".join(answer["problems"]) or "healthy",
    )


def utc(t_s: float) -> str:
    """Format a Unix time (s) in UTC."""
    return f"{datetime.fromtimestamp(t_s, tz=timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


def money(slot_h: float | None, price: float | None) -> str:
    """Return the cost of slot-hours as text; empty without a price."""
    return (
        "" if slot_h is None or not price else f" ({slot_h * price:,.2f} at {price:g} a slot-hour)"
    )


def _start(answer: Answer) -> Mapping[str, Any]:
    return answer["start"] or {}


def _state(answer: Answer, now: float) -> str:
    since = answer["since_s"]
    state = f"{answer['state']} since {UNKNOWN if since is None else utc(since)}"
    start, age_s = _start(answer), answer["age_s"]
    parts = [state if since is None else f"{state} ({format_duration(now - since)})"]
    if answer["starts"] > 1:
        parts.append(f"start number {answer['starts']}")
    if start.get("pid"):
        parts.append(f"process {start['pid']} on {start['host']}")
    parts.append(
        "no decision yet" if age_s is None else f"last record {format_duration(age_s)} ago"
    )
    return ", ".join(parts)


def _mode(answer: Answer) -> str:
    start = _start(answer)
    if not start:
        return f"{UNKNOWN} (a journal of an older version)"
    low, high = start["min_executors"], start["max_executors"]
    default = "" if start["limits_given"] else " (default limits)"
    return (
        f"{start['mode']}, policy {start['policy']}, {low} to {high} executors{default}, objective"
        f" {start['slo_s']:g} s, a decision every {start['interval_s']:g} s"
    )


def _size(answer: Answer) -> str:
    slots = answer["slots_per_executor"]
    of_slots = f" of {slots} slots" if slots else ""
    text = f"{_number(answer['executors'])} executors{of_slots}, target {_number(answer['target'])}"
    detail = f", {answer['detail']}" if answer["detail"] else ""
    wanted = f", the policy wants {_number(answer['wanted'])}"
    return f"{text}{wanted} ({answer['phase'] or 'no decision yet'}{detail})"


def _load(answer: Answer) -> str:
    parts = (
        f"{_number(answer['input_rows_per_s'])} rows/s arrive",
        f"backlog {_number(answer['lag_rows'])} rows",
        f"latency {_number(answer['latency_s'], ' s')}",
    )
    running_s = answer["running_batch_s"]
    batch = [] if running_s is None else [f"a batch has been running for {running_s:.1f} s"]
    slo = _start(answer).get("slo_s")
    return ", ".join([*parts, *batch, f"objective {_number(slo, ' s')}"])


def _today(answer: Answer) -> str:
    today = answer["today"]
    late = _share_late(today)
    if late is None:
        return "late rows unknown"
    unknown = today["rows_unknown_h"] + today["unknown_h"]
    missing = f", {unknown:.1f} h unknown" if unknown >= 0.05 else ""
    return (
        f"{late:.2%} of {today['rows']:,.0f} rows late, {today['changes']} changes of size{missing}"
    )


def _last_change(answer: Answer) -> str:
    change = answer["last_change"]
    if not change:
        return "none"
    return f"{utc(change['t_s'])}: {change['before']} -> {change['after']}: {change['reason']}"


def _broker(answer: Answer) -> str:
    kafka = _start(answer).get("kafka")
    if not kafka:
        return "none configured" if answer["start"] else UNKNOWN
    state = {True: "reachable", False: "UNREACHABLE", None: UNKNOWN}[answer["broker_up"]]
    return f"{kafka}: {state}"


def _saved(answer: Answer, name: str, against: str) -> str:
    saving = answer[name]
    saved = _less(saving) if saving else None
    if not saving or saved is None:
        return f"against {against}: {UNKNOWN}"
    missing = f", {saving['unknown_h']:.1f} h unknown" if saving["unknown_h"] >= 0.05 else ""
    fixed = saving["against_slot_h"]
    share = f", {saved / fixed:.0%}" if fixed else ""
    return (
        f"{saved:,.1f} of {fixed:,.1f} slot-hours{share}, against {against}"
        f"{money(saved, answer.get('price'))}{missing}"
    )


def _max_name(answer: Answer) -> str:
    most = _start(answer).get("max_executors")
    return f"the ceiling of {most} executors" if most else "the ceiling"


def _before_name(answer: Answer) -> str:
    before = answer["size_before"]
    return f"{before} executors before Rheostat" if before else "the size before Rheostat"


def _less(saving: Mapping[str, Any]) -> float | None:
    fixed = saving.get("against_slot_h")
    return None if fixed is None else float(fixed - saving["slot_h"])


def _share_late(saving: Mapping[str, Any] | None) -> float | None:
    return saving["late_rows"] / saving["rows"] if saving and saving["rows"] else None


def _ago(since_s: float | None, now: float) -> str:
    return UNKNOWN if since_s is None else format_duration(now - since_s)


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return UNKNOWN
    text = f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 100 else f"{value:.1f}"
    return f"{text}{unit}"
