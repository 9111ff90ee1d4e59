"""Write the tables and scatter plots of an evidence page from the runs of a matrix on real Spark.

A page shows the policies that attained the SLO on some seed, in five columns, and the errors of all
runs of a query together; CSV files beside it have all rows and columns.

Run: rheostat lab run experiments/live-policies.yaml
     python scripts/matrix_page.py live-policies out/lab
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix.matrix_run import read_runs
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import sentences, table
from rheostat_lab.matrix.prediction_table import prediction_table
from rheostat_lab.matrix.scatter_plot import scatter
from rheostat_lab.matrix.simulated_runs import simulated_runs, simulation_table

ROOT = Path(__file__).parents[1]
EVIDENCE = ROOT / "docs" / "evidence"


REPEATED = "it took fewer slot-hours"
"""A sentence that the table repeats."""

SHOWN = (0, 1, 2, 4, 5)
"""Of the table of a query: policy, attained, rows in time, slot-hours, the difference to ours."""


def cells(line: str) -> list[str]:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def shortened(lines: Sequence[str]) -> list[str]:
    """Return the rows of the policies that attained the SLO on some seed, in few columns."""
    kept = [cells(line) for line in lines]
    kept = [row for row in kept if not row[1].startswith(("0 of", "not played"))]
    return [f"| {' | '.join(row[column] for column in SHOWN)} |" for row in kept]


def totals(lines: Sequence[str]) -> list[str]:
    """Return the rows of all seeds together."""
    return [line for line in lines if "| seed |" in line or "---" in line or "| all |" in line]


def write_rows(name: str, rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file beside the page, without the marks of Markdown."""
    with (EVIDENCE / "data" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [cell.replace("`", "") for cell in row] for row in rows
        )


def by_policy(tables: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the tables of several queries as one, the query in the first column."""
    head = ["query", *cells(next(iter(tables.values()))[0])]
    return [head, *([q, *cells(line)] for q, lines in tables.items() for line in lines[2:])]


def parts(name: str, spec: MatrixSpec, runs: Sequence[PlayedRun]) -> dict[str, str]:
    """Write the CSV files and return what stands between the marks of the page, by their names."""
    by_query = {query: [run for run in runs if run.query == query] for query in spec.queries}
    sizings = spec.sizings()
    wanted = len(list(spec.cells()))
    claim = [f"**Claim.** On real Spark and Kafka, {len(runs)} of {wanted} runs exist:", ""]
    claim += [
        f"* **{q}.** {' '.join(line for line in sentences(played, sizings) if REPEATED not in line)}"
        for q, played in by_query.items()
    ]
    shown = {
        query: [sizing for sizing in sizings if any(run.policy == sizing for run in played)]
        for query, played in by_query.items()
    }
    full = {query: table(played, shown[query]) for query, played in by_query.items() if played}
    errors = prediction_table(list(runs), spec.queries)
    if runs:
        write_rows(name, by_policy(full))
        write_rows(f"{name}-prediction", [cells(line) for line in errors if "---" not in line])
    tables = {
        query: shortened(full[query]) if query in full else ["No run yet."] for query in by_query
    }
    tables |= {"prediction": totals(errors) or ["No run yet."]}
    return {"claim": "\n".join(claim), **{mark: "\n".join(text) for mark, text in tables.items()}}


def main(name: str, folder: Path) -> None:
    """Put each part between its marks and draw the plots beside the page."""
    path, page = ROOT / "experiments" / f"{name}.yaml", EVIDENCE / f"{name}.md"
    spec = spec_of(MatrixSpec, path, values_of(path))
    runs = read_runs(spec, folder / name)
    text = page.read_text(encoding="utf-8")
    simulated = simulation_table(simulated_runs(spec, folder / name, runs))
    simulation = "\n".join(simulated or ["Fewer than two runs of a query."])
    for mark, part in {**parts(name, spec, runs), "simulation": simulation}.items():
        begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        if begin not in text:
            continue
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")
    for query in spec.queries:
        scatter(EVIDENCE / f"{name}-{query}", [run for run in runs if run.query == query], spec.slo)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
