"""``rheostat savings``: the measured savings of the autoscaler, day by day."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from rheostat.cli.options import Price, span_s
from rheostat.cli.output import AsJson, Out, emit, plain_table
from rheostat.cli.status import UNKNOWN
from rheostat.errors import BadInput
from rheostat.journal.job_status import MAX, against_of, saving, saving_json, size_before, total
from rheostat.journal.known_journals import is_journal
from rheostat.journal.starts import read_events, starts_of
from rheostat.journal.summary import summarize
from rheostat.journal.totals import DAY_S, Day, date_of


def savings(
    journals: Annotated[list[Path], typer.Argument(help="Folders of journals.")],
    price: Price = None,
    since: Annotated[
        str, typer.Option(help="The newest days (UTC), as 7d; default: all that are kept.")
    ] = "",
    against: Annotated[
        str,
        typer.Option(
            help="A fixed size to compare with: executors, max (the ceiling) or before (Rheostat)."
        ),
    ] = MAX,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Show slot-hours and late rows day by day, measured by the job itself and not simulated.

    Time without decisions or without a known size counts as unknown, not as zero.

    Example: rheostat savings out/demo/journal --since 7d --against 8 --price-per-slot-hour 0.05
    """
    reference, first = against_of(against), _first_day(since)
    answers = [_answer(folder, reference, first, price) for folder in journals]
    emit(answers, as_json, out, lambda: _show(answers, against))


def _answer(folder: Path, against: str | int, first: str, price: float | None) -> dict[str, Any]:
    if not is_journal(folder):
        raise BadInput(f"there is no journal in {folder}: no file segment-NNNNN.jsonl")
    starts = starts_of(read_events(folder))
    totals = summarize(folder)[0].totals
    days = {date: day for date, day in sorted(totals.days.items()) if date >= first}
    before = size_before(totals, starts)
    price = price or (starts[-1].price if starts else None)

    def shown(day: Day) -> dict[str, Any]:
        values = saving_json(saving(day, against, before))
        saved = values["saved_slot_h"]
        priced = saved is not None and price is not None
        return values | {"saved_money": saved * price if priced else None}

    return {
        "journal": str(folder),
        "against": against,
        "size_before": before,
        "price": price,
        "days": {date: shown(day) for date, day in days.items()},
        "total": shown(total(days)),
    }


def _first_day(since: str) -> str:
    if not since:
        return ""
    days = math.ceil(span_s(since) / DAY_S)
    return date_of(max(0.0, time.time() - (days - 1) * DAY_S))


def _show(answers: list[dict[str, Any]], against: str) -> None:
    from rich.console import Console

    for answer in answers:
        has_price = answer["price"] is not None
        table = plain_table(
            "day (UTC)",
            "slot-h",
            against,
            "saved",
            *(["money"] if has_price else []),
            "late",
            "changes",
            "unknown",
            title=answer["journal"],
        )
        for date, day in [*answer["days"].items(), ("total", answer["total"])]:
            table.add_row(date, *_cells(day, has_price))
        Console().print(table)


def _cells(day: dict[str, Any], has_price: bool) -> list[str]:
    share, late = day["saved_share"], day["late_share"]
    saved = f"{_cell(day['saved_slot_h'])} ({share:.0%})" if share is not None else UNKNOWN
    is_shadow = day["shadow_h"] and day["shadow_h"] >= day["known_h"] - 1e-9
    return [
        "shadow mode" if is_shadow else _cell(day["slot_h"]),
        "" if is_shadow else _cell(day["against_slot_h"]),
        "" if is_shadow else saved,
        *([_cell(day["saved_money"], 2)] if has_price else []),
        UNKNOWN if late is None else f"{late:.2%}",
        str(day["changes"]),
        f"{day['unknown_h']:.1f} h",
    ]


def _cell(value: float | None, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{value:,.{digits}f}"
