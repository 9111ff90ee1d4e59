"""Write a table of docs/evidence/demo.md from the results of demos played one after the other.

Run: for n in 1 2 3; do rheostat demo --query q1 --out out/q1-$n; done
     python scripts/demo_page.py q1 out/q1-1 out/q1-2 out/q1-3
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "demo.md"
HEAD = (
    "run",
    "rows within 10 s",
    "latency: mean, 99 %",
    "slot-hours",
    "largest size all the time",
    "fixed mean",
    "rescalings",
    "failed tasks",
    "cost, of a core",
)
Summary: TypeAlias = Mapping[str, Any]


def table(runs: Sequence[Summary]) -> str:
    """Return a row a run, and beneath how many attained, with medians and ranges of several."""
    lines = [_line(*HEAD), _line(*["---"] * len(HEAD))]
    lines += [_line(str(n), *_cells(run)) for n, run in enumerate(runs, 1)]
    met, exact = (sum(bool(run[name]) for run in runs) for name in ("objective_met", "exact"))
    said = (
        f"Attained in {met} of {len(runs)} runs; {exact} of {len(runs)} outputs exact"
        f" ({runs[0]['rows_in']:,} bids each)."
    )
    if len(runs) > 1:
        said += (
            f" Medians (least to most): 99 % of the rows within"
            f" {_spread(runs, 'latency_p99_s', 1)} s,"
            f" {_spread(runs, 'slot_hours_saved_share', 0, 100)} % fewer slot-hours than the"
            f" largest size, {_spread(runs, 'overhead_core_share', 2, 100)} % of a core."
        )
    return "\n".join([*lines, "", said])


def _cells(run: Summary) -> list[str]:
    most, mean = run["baselines"]
    return [
        f"{100 * run['share_within_slo']:.2f} %",
        f"{run['latency_mean_s']:.1f} s, {run['latency_p99_s']:.1f} s",
        f"{run['slot_hours']:.3f}",
        f"{most['slot_hours']:.3f}: {100 * run['slot_hours_saved_share']:.0f} % saved",
        f"{mean['executors']} executors: {mean['slot_hours']:.3f}",
        str(run["rescalings"]),
        str(run["failed_tasks"]),
        f"{100 * run['overhead_core_share']:.2f} %",
    ]


def _spread(runs: Sequence[Summary], name: str, digits: int, times: float = 1.0) -> str:
    values = [times * run[name] for run in runs]
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main(query: str, folders: Sequence[str]) -> None:
    """Put the table of a query's runs between its marks in the page."""
    runs = [json.loads((Path(folder) / "summary.json").read_text()) for folder in folders]
    page = PAGE.read_text()
    begin, end = f"<!-- {query} -->", f"<!-- end of {query} -->"
    before, after = page.split(begin)[0], page.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n\n{table(runs)}\n\n{end}{after}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
