"""``rheostat top``: jobs in the terminal."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit, plain_table
from rheostat.cli.services.serve import Places, elsewhere, known
from rheostat.cli.status import alive

if TYPE_CHECKING:
    from rich.table import Table

_COLOURS = {
    "Healthy": "green",
    "Late": "red",
    "Bound": "yellow",
    "Halted": "magenta",
    "Blind": "magenta",
    "Not scaling": "dim",
}
_COLUMNS = ("state", "job", "executors", "rows/s", "latency", "objective", "late", "saved", "")


def top(
    places: Places = None,
    every: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.5)] = 2.0,
    once: Annotated[bool, typer.Option(help="Print once and exit.")] = False,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Show jobs in the terminal, those that need attention first; Ctrl-C ends it.

    Example: rheostat top --once /var/lib/rheostat/journals
    """
    from rich.console import Console
    from rich.live import Live

    from rheostat.control.jobs import jobs_of

    jobs = jobs_of(places or known(), alive, os.environ.get("RHEOSTAT_READ_TOKEN"), elsewhere)
    console = Console()
    if once or as_json or out or not console.is_terminal:
        rows = ordered(jobs.rows())
        emit(rows, as_json, out, lambda: console.print(table(rows)))
        return
    with Live(
        table(ordered(jobs.rows())), console=console, auto_refresh=False, screen=True
    ) as live:
        while True:
            time.sleep(every)
            live.update(table(ordered(jobs.rows())), refresh=True)


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows sorted by state, those that need attention first."""
    ranks = ("Late", "Blind", "Bound", "Halted", "Not scaling", "Healthy")
    return sorted(rows, key=lambda row: (ranks.index(row["word"]), row["name"]))


def table(rows: list[dict[str, Any]]) -> Table:
    """Return the rows as a table."""
    from rich.markup import escape

    shown = plain_table(*_COLUMNS)
    for row in rows:
        colour = _COLOURS[row["word"]]
        ceiling = f" of {row['ceiling']}" if row.get("ceiling") else ""
        shown.add_row(
            f"[{colour}]{row['word']}[/]",
            escape(row["name"]),
            f"{_number(row.get('executors'))}{ceiling}",
            _number(row.get("rate")),
            _number(row.get("latency_s"), " s"),
            _number(row.get("slo_s"), " s"),
            _share(row.get("late_share"), 2),
            _share(row.get("saved_share"), 0),
            escape(row["sentence"]),
        )
    return shown


def _number(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"


def _share(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}%}"
