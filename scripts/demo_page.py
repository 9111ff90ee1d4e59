"""Write the table of a query in docs/evidence/demo.md from the results of consecutive demos, and
all runs into a CSV file.

Run: for n in 1 2 3; do rheostat demo --query q1 --out out/q1-$n; done
     python scripts/demo_page.py q1 out/q1-1 out/q1-2 out/q1-3
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

EVIDENCE = Path(__file__).parents[1] / "docs" / "evidence"
PAGE = EVIDENCE / "demo.md"
Summary: TypeAlias = Mapping[str, Any]
COLUMNS: Mapping[str, Callable[[Summary], float]] = {
    "rows within 10 s, %": lambda run: round(100 * run["share_within_slo"], 2),
    "mean latency, s": lambda run: round(run["latency_mean_s"], 1),
    "99 % of the rows within, s": lambda run: round(run["latency_p99_s"], 1),
    "slot-hours": lambda run: round(run["slot_hours"], 3),
    "fewer than the largest size, %": lambda run: round(100 * run["slot_hours_saved_share"]),
    "fixed mean size, slot-hours": lambda run: round(run["baselines"][1]["slot_hours"], 3),
    "rescales": lambda run: run["rescalings"],
    "failed tasks": lambda run: run["failed_tasks"],
    "overhead, % of a core": lambda run: round(100 * run["overhead_core_share"], 2),
}
"""The columns of the CSV file, and, but for failed tasks, the rows of the page's table."""


def table(runs: Sequence[Summary]) -> str:
    """Return median, minimum and maximum of each number, and how many runs met the objective."""
    lines = ["| | median | least | most |", "| --- | --- | --- | --- |"]
    for name, number in COLUMNS.items():
        if name == "failed tasks":
            continue
        values = [number(run) for run in runs]
        lines.append(f"| {name} | {median(values):g} | {min(values):g} | {max(values):g} |")
    met, exact = (sum(bool(run[name]) for run in runs) for name in ("objective_met", "exact"))
    failed = sum(run["failed_tasks"] for run in runs)
    words = (
        f"{met} of {len(runs)} runs attained the SLO, {exact} of {len(runs)} outputs are exact"
        f" ({runs[0]['rows_in']:,} bids each), and {failed} tasks failed."
    )
    return "\n".join([words, "", *lines])


def write_runs(path: Path, runs: Sequence[Summary]) -> None:
    """Write a row for each run."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["run", *COLUMNS])
        rows.writerows(
            [n, *(number(run) for number in COLUMNS.values())] for n, run in enumerate(runs, 1)
        )


def main(query: str, folders: Sequence[str]) -> None:
    """Put the table of a query's runs between its marks in the page, and write their CSV file."""
    runs = [json.loads((Path(folder) / "summary.json").read_text()) for folder in folders]
    write_runs(EVIDENCE / "data" / f"demo-{query}.csv", runs)
    page = PAGE.read_text()
    begin, end = f"<!-- {query} -->", f"<!-- end of {query} -->"
    before, after = page.split(begin)[0], page.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n\n{table(runs)}\n\n{end}{after}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
