"""``rheostat advise``: what the jobs in a company's event logs would save."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit, plain_table, watched, write_out
from rheostat.cli.recordings.matching_logs import matching_logs
from rheostat.cli.recordings.prices import Prices, read_prices
from rheostat.errors import BadInput
from rheostat.model import Finding, Limits, Slo

if TYPE_CHECKING:
    from rheostat.replay.event_logs.log_files import LogFiles
    from rheostat.sim.advice.advise_job import Request

COLUMNS = ("query", "slot-h", "in time", "fixed", "simple", "predictive", "saved", "confidence")
LEGEND = (
    "Slot-hours that were paid, and those that the smallest fixed number of executors, the cheapest"
    " simple policy and the default policy (predictive) need for the objective; saved: by the"
    " default policy, which the total counts unless the confidence is low."
)
CHARTS = 200
"""Queries whose charts the page has: those that save most."""

Place = Annotated[
    str,
    typer.Argument(
        help="An event log, or a folder of them: a path, s3a://, hdfs://, gs:// or abfss://."
    ),
]
PriceTable = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help=(
            "CSV with instance_type, price_per_hour and slots; the row default is for types"
            " that are not in the logs."
        ),
    ),
]


def advise(
    place: Place,
    slo: Annotated[float, typer.Option(help="Latency objective in seconds.")] = 30.0,
    application: Annotated[str, typer.Option(help="Only logs whose name contains this text.")] = "",
    since: Annotated[str, typer.Option(help="Only logs written since, as 7d or 12h.")] = "",
    hours: Annotated[
        float, typer.Option(help="Judge the last hours of each query.", min=0.05)
    ] = 24.0,
    maximum: Annotated[
        int | None,
        typer.Option("--max", help="Ceiling of executors; default: the most recorded.", min=1),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option("--price-per-slot-hour", help="Also show the cost in money.", min=0),
    ] = None,
    price_table: PriceTable = None,
    earlier: Annotated[
        Path | None,
        typer.Option(help="Earlier advice (--out): compare its prediction with these logs."),
    ] = None,
    pages: Annotated[
        Path | None,
        typer.Option("--html", help="Write one page: the list, and the charts of each query."),
    ] = None,
    master: Annotated[str, typer.Option(help="Spark master of the analysis.")] = "local[*]",
    parquet: Annotated[
        Path | None,
        typer.Option(
            help="Write one row for each query to this folder, as Parquet, and its recording."
        ),
    ] = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Analyse event logs of Spark 3.5 to 4.3, and rank the streaming queries by what they would
    save.

    The job does not need to know Rheostat: spark.eventLog.enabled is enough. A simulated job is
    fitted to one part of each log and judged on the other; the error is shown with each answer.

    Example: rheostat advise s3a://logs/spark --slo 30 --price-per-slot-hour 0.05
    """
    from rheostat.sim.advice.advise_job import Request

    # Before the analysis, which may take an hour: a wrong file is reported at once.
    before = [] if earlier is None else _read_earlier(earlier)
    prices = Prices(price) if price_table is None else read_prices(price_table, price)
    with matching_logs(place, application, since) as (here, logs):
        request = Request(
            place=here,
            slo=Slo(latency_s=slo),
            hours=hours,
            limits=None if maximum is None else Limits.between(1, maximum),
            with_recordings=pages is not None,
            folder=None if parquet is None else str(parquet.absolute() / "recordings"),
        )
        rows = _rows(logs, request, master)
    _rank(rows, prices)
    if parquet:
        _write_parquet(rows, parquet)
    answer = {"slo_s": slo, **_sum(rows), "queries": rows, "changes": _compare(before, rows)}
    if pages:
        _write_page(answer, pages)
    for row in rows:
        row.pop("recording", None)
    emit(answer, as_json, out, lambda: _show(answer))


def _rows(logs: Sequence[LogFiles], request: Request, master: str) -> list[dict[str, Any]]:
    from rheostat.local.local_session import replay_session
    from rheostat.sim.advice.advise_job import advise_logs

    with replay_session(master) as session:
        rows: list[dict[str, Any]] = []
        charted: list[dict[str, Any]] = []
        for row in watched(advise_logs(logs, request, session), "reading event logs", len(logs)):
            rows.append(asdict(row))
            charted.append(rows[-1])
            if len(charted) > CHARTS:  # The recordings of a thousand logs would fill the memory.
                charted.sort(key=_saved_hours, reverse=True)
                charted.pop()["recording"] = []
        return rows


def _paid_hours(row: Mapping[str, Any]) -> float:
    """Return the slot-hours of a judged query; queries that share executors have equal parts."""
    return float(row["advice"]["recorded"]["slot_hours"] / row["facts"]["queries_sharing"])


def _saved_hours(row: Mapping[str, Any]) -> float:
    """Return what totals and ranking count: nothing where the confidence in the saving is low."""
    advice = row["advice"]
    if advice is None or advice["saved_share"] is None or advice["confidence"].startswith("low"):
        return -1.0
    return float(advice["saved_share"] * _paid_hours(row))


def _sum(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    paid = sum(_paid_hours(row) for row in rows if row["advice"])
    saved = sum(max(0.0, _saved_hours(row)) for row in rows)
    money = [
        max(0.0, _saved_hours(row)) * row["price_per_slot_hour"]
        for row in rows
        if row["advice"] and row["price_per_slot_hour"] is not None
    ]
    return {
        "saved_money": sum(money) if money else None,
        "slot_hours": paid,
        "saved_slot_hours": saved,
        "saved_share": saved / paid if paid else None,
    }


def _write_parquet(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    flat = pd.json_normalize([dict(row) for row in rows], sep="_")
    flat.to_parquet(folder / "advice.parquet", index=False)


def _read_earlier(file: Path) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = json.loads(file.read_text())["queries"]
        return [row for row in rows if row["advice"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{file} is not advice written by rheostat advise --out: {type(error).__name__}"
        ) from None


def _compare(
    earlier: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what each query pays an hour now and paid then, and what the advice had predicted."""
    before = {(row["name"], row["query"]): row["advice"] for row in earlier}
    changes = []
    for row in rows:
        then, now = before.get((row["name"], row["query"])), row["advice"]
        if then and now:
            paid = then["recorded"]["slot_hours"] / then["hours"]
            pays = now["recorded"]["slot_hours"] / now["hours"]
            changes.append(
                {
                    "query": row["label"],
                    "slots_before": paid,
                    "slots_now": pays,
                    "saved_share": 1 - pays / paid if paid else None,
                    "predicted_share": then["saved_share"],
                    "late_share": now["recorded"]["late_share"],
                }
            )
    return changes


def _show(answer: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    rows = answer["queries"]
    console = Console(highlight=False)
    judged = [row for row in rows if row["advice"]]
    if judged:
        console.print(_title(answer))
        table = plain_table(*COLUMNS)
        for row in judged:
            table.add_row(escape(row["label"]), *map(escape, _cells(row)))
        console.print(table)
        console.print(LEGEND)
    for row in judged:
        for line in _advice_lines(row, answer["saved_money"] is not None):
            console.print(line, soft_wrap=True, markup=False)
    for change in answer["changes"]:
        console.print(_change_line(change), soft_wrap=True, markup=False)
    for row in rows:
        if row["cannot"]:
            console.print(
                f"{row['label']} cannot be judged: {row['cannot']}", soft_wrap=True, markup=False
            )


def _title(answer: Mapping[str, Any]) -> str:
    rows, saved = answer["queries"], answer["saved_money"]
    judged = sum(row["advice"] is not None for row in rows)
    money = "" if saved is None else f" ({saved:,.2f} in money)"
    return (
        f"{judged} of {len(rows)} queries judged: {answer['saved_share'] or 0.0:.0%} of"
        f" {answer['slot_hours']:,.2f} slot-hours saved at an objective of {answer['slo_s']:g} s"
        f"{money}"
    )


def _write_page(answer: Mapping[str, Any], file: Path) -> None:
    from rheostat.cli.recordings.advise_pages import page_of

    not_judged = [""] * (len(COLUMNS) - 2) + ["not judged"]
    queries = [
        {
            "label": row["label"],
            "cells": _cells(row) if row["advice"] else not_judged,
            "lines": [_facts_line(row), *_advice_lines(row)]
            if row["advice"]
            else [f"{row['label']} cannot be judged: {row['cannot']}"],
            "recording": row["recording"],
        }
        for row in answer["queries"]
    ]
    write_out(file, [page_of(queries, COLUMNS, _title(answer), answer["slo_s"])])


def _change_line(change: Mapping[str, Any]) -> str:
    predicted, late = change["predicted_share"], change["late_share"]
    return (
        f"{change['query']}: {change['slots_now']:.2f} slots in the mean,"
        f" {change['slots_before']:.2f} before: {change['saved_share'] or 0.0:.0%} saved"
        + ("" if predicted is None else f", {predicted:.0%} predicted")
        + ("" if late is None else f"; {1 - late:.1%} of the rows in time")
    )


def _rank(rows: list[dict[str, Any]], prices: Prices) -> None:
    """Sort rows by what they would save, and add to each its price and its label: its application
    and query, and its log where several have that name.
    """
    rows.sort(key=_saved_hours, reverse=True)
    names = ["/".join(filter(None, (r["name"] or r["application"], r["query"]))) for r in rows]
    count = Counter(names)
    for name, row in zip(names, rows, strict=True):
        row["label"] = name if count[name] == 1 else f"{name} ({row['application']})"
        row["price_per_slot_hour"] = prices.of(row["facts"].get("instance_type"))


def _facts_line(row: Mapping[str, Any]) -> str:
    facts, advice = row["facts"], row["advice"]
    parts = {
        "batches": facts["batches"],
        "rows": facts["rows"],
        "fixed cost of a batch (s)": advice["fixed_s"],
        "busy slot-hours": facts["busy_slot_hours"],
        "longest over median task": facts["skew_median"],
        "trigger (s)": facts["trigger_s"],
        "state (MB)": facts["state_bytes"] and facts["state_bytes"] / 1e6,
        "starts": facts["starts"],
        "failures": len(facts["failures"]),
        "failed tasks": facts["failed_tasks"],
    }
    known = (
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value:,.4g}"
        for name, value in parts.items()
        if value is not None
    )
    return f"{row['label']}: {', '.join(known)}"


def _in_time(row: Mapping[str, Any]) -> str:
    late, bounds = row["advice"]["recorded"]["late_share"], row["facts"]["in_time_bounds"]
    if bounds:
        return " to ".join(dict.fromkeys(f"{bound:.0%}" for bound in bounds))
    return "unknown" if late is None else f"{1 - late:.1%}"


def _cells(row: Mapping[str, Any]) -> list[str]:
    advice = row["advice"]
    recorded, fixed, saved = advice["recorded"], advice["fixed"], advice["saved_share"]
    return [
        f"{recorded['slot_hours']:,.2f}",
        _in_time(row),
        "none" if fixed is None else f"{advice['fixed_executors']}: {fixed['slot_hours']:,.2f}",
        _simulated(advice["simple"]),
        _simulated(advice["policy"]),
        "nothing" if saved is None else f"{saved:.0%}",
        advice["confidence"].partition(":")[0],
    ]


def _simulated(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "none"
    return f"{one['slot_hours']:,.2f}" if one["attained"] else "misses"


def _structure(row: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what ``rheostat doctor`` would advise about a query and what binds it."""
    from rheostat.diagnosis.memory_use import MemoryUse, memory_findings
    from rheostat.journal.bindings import Binding, finding_of
    from rheostat.spark.sensing.query_shape import Query, query_findings

    advice, facts = row["advice"], row["facts"]
    if advice["binding"]:
        yield finding_of(Binding(**{**advice["binding"], "query": row["query"]}))
    shared = ("gc_share", "spilled_bytes", "executor_memory")
    memory = memory_findings(MemoryUse(**{name: facts[name] for name in shared}))
    yield from (finding for finding in memory if finding.state != "good")
    if facts["state_partitions"]:
        query = Query(
            name=row["query"],
            state_partitions=facts["state_partitions"],
            slots=max(advice["sizes"]) * advice["slots_per_executor"],
            trigger_s=facts["trigger_s"],
            reads_all=facts["reads_all"],
        )
        findings = query_findings(query, row["spark"] or version("pyspark"))
        yield from (finding for finding in findings if finding.state != "good")


def _advice_lines(row: Mapping[str, Any], priced: bool = False) -> list[str]:
    advice, facts, label = row["advice"], row["facts"], row["label"]
    lines = []
    lines += [f"{label}: {finding.line}" for finding in _structure(row)]
    if facts["earlier_names"]:
        lines.append(f"{label}: its earlier name was {', '.join(facts['earlier_names'])}")
    if facts["queries_sharing"] > 1:
        lines.append(
            f"{label}: {facts['queries_sharing']} queries share its executors, so the totals count"
            " an equal part of its slot-hours"
        )
    if failures := facts["failures"]:
        lines.append(f"{label}: failures: {len(failures)}; the last one: {failures[-1]}")
    if facts["dynamic_allocation"]:
        lines.append(f"{label}: its executors were sized by Spark's dynamic allocation")
    if row["price_per_slot_hour"] is None and priced:
        kind = facts["instance_type"] or "an unknown type"
        lines.append(f"{label}: the table has no price for {kind} and no row default")
    if row["malformed"]:
        lines.append(f"{label}: malformed lines that were left out: {row['malformed']}")
    if facts["parts"] > 1:
        lines.append(
            f"{label}: its log has {facts['parts'] - 1} gaps, as of a query that was down; the"
            f" longest part between them is judged ({advice['hours']:.2g} h)"
        )
    if not advice["confidence"].startswith("good"):
        lines.append(f"{label}: confidence {advice['confidence']}")
    return lines
