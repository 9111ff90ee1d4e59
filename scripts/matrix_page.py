"""Write the tables and figures of the evidence pages of a matrix from its committed runs.

A second argument names a lab's folder whose finished runs are first copied to the committed ones,
next to the specification. CSV files next to the page have all rows and columns.

Run: rheostat lab run experiments/thesis-spark.yaml
     python scripts/matrix_page.py thesis-spark out/lab
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix.kept_run import (
    keep_finished,
    kept_files,
    observations,
    read_runs,
    results_of,
)
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import best_first, sentences, table
from rheostat_lab.matrix.prediction_table import prediction_table
from rheostat_lab.matrix.run_figures import scatter, telemetry
from rheostat_lab.matrix.simulated_runs import simulated_runs, simulation_rows, simulation_table
from rheostat_lab.matrix.thesis_ranks import answer_table, rank_table

ROOT = Path(__file__).parents[1]
EVIDENCE = ROOT / "docs" / "evidence"


LISTS = ("Where both attained", "Attained on no seed", "Not played")
"""Sentences that repeat the tables."""

SHOWN = range(8)
"""Columns of the table of a query: all measures but the p99, failed tasks and exactness."""

ROWS = 8
"""Policies in the table of a query; the CSV file has all."""


def cells(line: str) -> list[str]:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def shortened(lines: Sequence[str]) -> list[str]:
    """Return the rows in few columns."""
    return [f"| {' | '.join(cells(line)[column] for column in SHOWN)} |" for line in lines]


def totals(lines: Sequence[str]) -> list[str]:
    """Return the rows of all seeds together, and those of queries with one seed."""
    summed = {cells(line)[0] for line in lines if "| all |" in line}
    return [line for line in lines if "| all |" in line or cells(line)[0] not in summed]


def write_rows(name: str, rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file next to the page, without Markdown markup."""
    with (EVIDENCE / "data" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [cell.replace("`", "") for cell in row] for row in rows
        )


def by_policy(tables: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the tables of several queries as one, the query in the first column."""
    head = ["query", *cells(next(iter(tables.values()))[0])]
    return [head, *([q, *cells(line)] for q, lines in tables.items() for line in lines[2:])]


def claim(spec: MatrixSpec, runs: Sequence[PlayedRun]) -> list[str]:
    """Return how many runs exist, on which seeds, and the result of each query in sentences."""
    sizings, wanted = spec.sizings(), len(list(spec.cells()))
    lines = [f"**Claim.** On real Spark and Kafka, {len(runs)} of {wanted} runs exist:", ""]
    for query in spec.queries:
        days = [run for run in runs if run.query == query]
        if not days:
            lines.append(f"* **{query}**: no runs yet.")
            continue
        seeds = ", ".join(map(str, sorted({run.seed for run in days})))
        played = {run.policy for run in days}
        missed = {run.policy for run in days if not run.attained}
        lines.append(
            f"* **{query}: {len(days)} runs, seeds {seeds}.** Of {len(sizings)} policies with"
            f" parameters, {len(played)} were played, and {len(played - missed)} attained the"
            f" objective on all of their seeds; {sum(run.exact for run in days)} of {len(days)}"
            " outputs are exact."
        )
        lines += [f"  {line}" for line in sentences(days, sizings) if not line.startswith(LISTS)]
    return lines


def parts(name: str, spec: MatrixSpec, runs: Sequence[PlayedRun]) -> dict[str, Sequence[str]]:
    """Write the CSV files and return the text between the marks of the page, by name."""
    full, best, sizings = {}, {}, spec.sizings()
    for query in spec.queries:
        played = [run for run in runs if run.query == query]
        others = [sizing for sizing in sizings[1:] if any(run.policy == sizing for run in played)]
        if played:
            full[query] = table(played, [sizings[0], *others])
            best[query] = table(played, best_first(played, sizings)[:ROWS])
    errors = prediction_table(runs, spec.queries)
    if full:
        write_rows(name, by_policy(full))
        write_rows(f"{name}-prediction", [cells(line) for line in errors if "---" not in line])
    tables = {
        query: [*shortened(lines), "", *figures(name, query)] for query, lines in best.items()
    }
    return {
        "claim": claim(spec, runs),
        **{q: tables.get(q, []) for q in spec.queries},
        "prediction": totals(errors),
    }


def figures(name: str, query: str) -> list[str]:
    """Return the links to the figures of a query."""
    stem = f"{name}-{query}"
    return [
        f"![Mean latency against mean executors, {query}]({stem}-zoomed.svg)",
        "",
        f"[All points]({stem}.svg), [telemetry of three runs]({stem}-telemetry.svg)",
    ]


def telemetry_of(runs: Mapping[str, PlayedRun], query: str) -> list[str]:
    """Return the names of the runs whose telemetry a query's figure has: the first one, the cheapest
    that attained the objective, and the one with the longest waits.
    """
    played = {name: run for name, run in runs.items() if run.query == query}
    attained = [name for name, run in played.items() if run.attained]
    waits = [name for name, run in played.items() if run.latency_mean_s is not None]
    cheapest = sorted(attained, key=lambda name: played[name].slot_hours)[:1]
    slowest = sorted(waits, key=lambda name: -(played[name].latency_mean_s or 0.0))[:1]
    return list(dict.fromkeys([*list(played)[:1], *cheapest, *slowest]))


def fill(page: Path, marked: Mapping[str, Sequence[str]]) -> None:
    """Put each part between its marks."""
    text = page.read_text(encoding="utf-8")
    for mark, lines in marked.items():
        begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        if begin in text:
            before, rest = text.split(begin)
            part = "\n".join(lines or ["Too few runs yet."])
            text = f"{before}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")


def main(name: str, lab: Annotated[Path | None, typer.Argument()] = None) -> None:
    """Fill the pages ``name``*.md and draw the figures next to them."""
    path = ROOT / "experiments" / f"{name}.yaml"
    spec, results = spec_of(MatrixSpec, path, values_of(path)), results_of(path)
    if lab:
        results.mkdir(parents=True, exist_ok=True)
        keep_finished(spec, lab / name, results)
    files = kept_files(spec.cells(), [results])
    runs = read_runs(spec, files)
    if not runs:
        sys.exit(f"{results} has no runs: the pages stay unchanged")
    simulated = simulated_runs(spec, files, runs)
    if simulated:
        write_rows(f"{name}-simulation", simulation_rows(simulated))
    played = [(cell, runs[cell.name]) for cell in spec.cells() if cell.name in runs]
    marked = {
        **parts(name, spec, list(runs.values())),
        "simulation": simulation_table(simulated),
        "answer": answer_table(played),
        "ranks": rank_table(played),
    }
    for page in sorted(EVIDENCE.glob(f"{name}*.md")):
        fill(page, marked)
    for query in spec.queries:
        scatter(
            EVIDENCE / f"{name}-{query}", [r for r in runs.values() if r.query == query], spec.slo
        )
        shown = {runs[run].policy: observations(files[run]) for run in telemetry_of(runs, query)}
        if shown:
            telemetry(EVIDENCE / f"{name}-{query}-telemetry.svg", shown)


if __name__ == "__main__":
    typer.run(main)
