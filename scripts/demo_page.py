"""Write the results of consecutive demos of a query into a CSV file, and the table of all queries
into docs/evidence/demo.md from these files.

Run: for n in 1 2 3; do rheostat demo --query q1 --out out/q1-$n; done
     python scripts/demo_page.py q1 out/q1-1 out/q1-2 out/q1-3
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypeAlias

import typer

EVIDENCE = Path(__file__).parents[1] / "docs" / "evidence"
PAGE = EVIDENCE / "demo.md"
Summary: TypeAlias = Mapping[str, Any]
QUERIES = {"q1": "q1: a map", "q11": "q11: session windows with state"}
COLUMNS: Mapping[str, Callable[[Summary], float]] = {
    "bids": lambda run: run["rows_in"],
    "SLO attained": lambda run: int(run["objective_met"]),
    "output exact": lambda run: int(run["exact"]),
    "failed tasks": lambda run: run["failed_tasks"],
    "rows within 10 s, %": lambda run: round(100 * run["share_within_slo"], 2),
    "mean latency, s": lambda run: round(run["latency_mean_s"], 1),
    "99 % of the rows within, s": lambda run: round(run["latency_p99_s"], 1),
    "slot-hours": lambda run: round(run["slot_hours"], 3),
    "fewer than the largest size, %": lambda run: round(100 * run["slot_hours_saved_share"]),
    "fixed mean size, slot-hours": lambda run: round(run["baselines"][1]["slot_hours"], 3),
    "rescales": lambda run: run["rescalings"],
    "overhead, % of a core": lambda run: round(100 * run["overhead_core_share"], 2),
}
"""The columns of the CSV file; the page's table has those after the failed tasks."""
SHOWN = list(COLUMNS)[4:]


def table() -> str:
    """Return how many runs of each query met the objective, and the spread of each number."""
    runs = {query: read_runs(query) for query in QUERIES}
    head = ["median (least to most)", *(f"{QUERIES[q]}, n = {len(runs[q])}" for q in runs)]
    lines = [head, ["---"] * len(head)]
    lines += [[name, *(spread([run[name] for run in runs[q]]) for q in runs)] for name in SHOWN]
    return "\n".join([*(verdict(q, runs[q]) for q in runs), "", *map(row, lines)])


def row(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def spread(values: Sequence[float]) -> str:
    """Return median, minimum and maximum as text."""
    return f"{median(values):g} ({min(values):g} to {max(values):g})"


def verdict(query: str, runs: Sequence[Mapping[str, float]]) -> str:
    """Return the sentence about objective, output and tasks of a query's runs."""
    attained, exact, failed = (
        sum(run[name] for run in runs) for name in ("SLO attained", "output exact", "failed tasks")
    )
    return (
        f"* {query}: {attained:g} of {len(runs)} runs attained the SLO, {exact:g} of {len(runs)}"
        f" outputs are exact ({runs[0]['bids']:,.0f} bids each), and {failed:g} tasks failed"
        f" ([all runs](data/demo-{query}.csv))."
    )


def runs_file(query: str) -> Path:
    """Return the path of the CSV file of a query."""
    return EVIDENCE / "data" / f"demo-{query}.csv"


def read_runs(query: str) -> list[dict[str, float]]:
    """Return the numbers of each run from the CSV file of a query."""
    with runs_file(query).open(encoding="utf-8", newline="") as file:
        return [{name: float(text) for name, text in run.items()} for run in csv.DictReader(file)]


def write_runs(query: str, runs: Sequence[Summary]) -> None:
    """Write a row for each run into the CSV file of a query."""
    with runs_file(query).open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["run", *COLUMNS])
        rows.writerows(
            [n, *(number(run) for number in COLUMNS.values())] for n, run in enumerate(runs, 1)
        )


def page() -> str:
    """Return the page with the table of all runs between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- runs -->", "<!-- end of runs -->"
    return f"{text.split(begin)[0]}{begin}\n\n{table()}\n\n{end}{text.split(end)[1]}"


def main(query: Literal["q1", "q11"], folders: list[Path]) -> None:
    """Write the CSV file of a query's runs, and the page."""
    write_runs(query, [json.loads((f / "summary.json").read_text()) for f in folders])
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
