"""``rheostat status``: the status of jobs, from their journals or their control APIs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

import typer

from rheostat.cli.options import Price
from rheostat.cli.output import AsJson, Out, emit, plain_table
from rheostat.control.driver_call import ENDPOINT, call_driver
from rheostat.errors import BadInput, RheostatError
from rheostat.journal.explanation import format_duration
from rheostat.journal.job_status import job_status, status_json
from rheostat.journal.known_journals import is_journal, journals_of, known_journals, written_s
from rheostat.journal.starts import Start
from rheostat.machine.scratch_folder import state_folder
from rheostat.storage.lease import process_start, this_process

_RECENT_S = 7 * 86_400.0

Answer = Mapping[str, Any]
"""A status as ``status_json`` returns it."""

UNKNOWN = "unknown"
COLUMNS = ("job", "state", "size", "wanted", "rows/s", "latency", "late today", "saved", "problems")
_LABEL = 13


def status(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOURNAL|CHECKPOINT|HOST:PORT]...",
            help=(
                "A journal's folder, the checkpoint of a query, or a control endpoint; default: the"
                " journals of this computer that were written in the last seven days."
            ),
        ),
    ] = None,
    price: Price = None,
    as_json: AsJson = False,
    out: Out = None,
) -> int:
    """Show the status of a job on one screen, or of several jobs in one row each.

    The screen shows whether it runs and since when; policy, limits and mode; current and wanted
    size; load, backlog and latency against the objective; the last change and its reason; the
    bottleneck; broker, journal, kill switch and control endpoint; savings so far.

    The exit code is 0 if every job is healthy, else 1.

    Example: rheostat status out/demo/journal
    """
    shown = [answer for job in jobs or _recent() for answer in _answers(job)]
    for answer in shown:
        answer["price"] = price or (answer["start"] or {}).get("price")
    emit(shown, as_json, out, lambda: _show(shown))
    return 0 if all(answer["healthy"] for answer in shown) else 1


def _recent() -> list[str]:
    place = state_folder()
    since_s = time.time() - _RECENT_S
    recent = [str(folder) for folder in known_journals(place) if written_s(folder) >= since_s]
    if not recent:
        raise BadInput(
            f"no journal was written in the last seven days in {place}; name a journal, a"
            " checkpoint or HOST:PORT"
        )
    return recent


def _answers(job: str) -> list[dict[str, Any]]:
    """Return the status of the jobs that an argument names; raises BadInput for other arguments."""
    folder = Path(job)
    if is_journal(folder):
        return [_of_journal(folder)]
    if is_journal(folder / "journal"):
        raise BadInput(f"there is no journal in {job}, but there is one in {folder / 'journal'}")
    if not folder.exists() and ENDPOINT.fullmatch(job):
        return [_of_endpoint(job)]
    journals = journals_of(job, state_folder())
    if not journals:
        raise BadInput(
            f"{job} is not a journal, a control endpoint HOST:PORT, or a checkpoint that a journal"
            " on this computer names"
        )
    return [_of_journal(journals[0])]


def _of_journal(folder: Path) -> dict[str, Any]:
    return status_json(job_status(folder, time.time(), alive))


def alive(start: Start) -> bool | None:
    """Return whether the process of a start runs; None if it is on another computer."""
    if start.pid is None or start.host != this_process().host:
        return None
    return process_start(start.pid) == start.process_started


def _of_endpoint(address: str) -> dict[str, Any]:
    try:
        token = os.environ.get("RHEOSTAT_READ_TOKEN")
        read: dict[str, Any] = call_driver(address, "overview", token)
        return {**read, "endpoint": address, "healthy": bool(read["healthy"])}
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise RheostatError(
            f"{address} does not answer as a control endpoint of Rheostat: {fault}"
        ) from None


def _show(shown: list[dict[str, Any]]) -> None:
    if len(shown) == 1:
        typer.echo("\n".join(lines_of(shown[0], time.time())))
        return
    from rich.console import Console

    table = plain_table(*COLUMNS)
    for answer in shown:
        table.add_row(*row_of(answer, time.time()))
    Console().print(table)


def lines_of(answer: Answer, now: float) -> list[str]:
    """Return the lines of one screen."""
    most, before = _start(answer).get("max_executors"), answer["size_before"]
    maximum = f"the ceiling of {most} executors" if most else "the ceiling"
    earlier = f"{before} executors before Rheostat" if before else "the size before Rheostat"
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
        "savings": _saved(answer, "against_max", maximum),
        "": _saved(answer, "against_before", earlier),
    }
    title, first = next(iter(rows.items()))
    lines = [f"{title}: {first}"]
    lines += [f"  {label:{_LABEL}}{text}" for label, text in list(rows.items())[1:]]
    problems = answer["problems"] or ["healthy"]
    return [*lines, *(f"  {'' if n else 'problems':{_LABEL}}{p}" for n, p in enumerate(problems))]


def row_of(answer: Answer, now: float) -> tuple[str, ...]:
    """Return one row of ``COLUMNS``."""
    late, since_s = (answer["today"] or {}).get("late_share"), answer["since_s"]
    return (
        str(answer["application"] or answer["journal"]),
        f"{answer['state']} {UNKNOWN if since_s is None else format_duration(now - since_s)}",
        _number(answer["executors"]),
        _number(answer["wanted"]),
        _number(answer["input_rows_per_s"]),
        _number(answer["latency_s"], " s"),
        UNKNOWN if late is None else f"{late:.2%}",
        _number((answer["against_max"] or {}).get("saved_slot_h"), " slot-h"),
        "; ".join(answer["problems"]) or "healthy",
    )


def utc(t_s: float) -> str:
    """Format a Unix time (s) in UTC."""
    return f"{datetime.fromtimestamp(t_s, tz=timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


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
    if not today or (late := today["late_share"]) is None:
        return "late rows unknown"
    unknown = today["rows_unknown_h"] + today["unknown_h"]
    missing = f", {unknown:.1f} h unknown" if unknown >= 0.05 else ""
    by_query = [f"; {name}: {share:.2%} in time" for name, share in today["in_time_share"].items()]
    return (
        f"{late:.2%} of {today['rows']:,.0f} rows late, {today['changes']} changes of size{missing}"
        + "".join(by_query)
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
    if not saving or (saved := saving["saved_slot_h"]) is None:
        return f"against {against}: {UNKNOWN}"
    missing = f", {saving['unknown_h']:.1f} h unknown" if saving["unknown_h"] >= 0.05 else ""
    fixed = saving["against_slot_h"]
    share = f", {saved / fixed:.0%}" if fixed else ""
    price = answer.get("price")
    money = f" ({saved * price:,.2f} at {price:g} a slot-hour)" if price else ""
    return f"{saved:,.1f} of {fixed:,.1f} slot-hours{share}, against {against}{money}{missing}"


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return UNKNOWN
    text = f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 100 else f"{value:.1f}"
    return f"{text}{unit}"
