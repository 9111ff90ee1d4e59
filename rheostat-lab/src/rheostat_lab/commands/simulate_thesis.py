"""``rheostat simulate thesis``: the published comparison of autoscalers, with repetitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import out_option, plain_table, working, write_out
from rheostat.errors import BadInput
from rheostat_lab.commands.progress_bar import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rheostat_lab.flink.flink_job import FlinkJob
    from rheostat_lab.thesis.closed_loop import Outcome
    from rheostat_lab.thesis.thesis_runs import Cell


def thesis(
    seeds: Annotated[int, typer.Option(help="Repetitions of each of the 54 runs.")] = 30,
    jobs: Annotated[int, typer.Option(help="Processes at once.")] = 2,
    query: Annotated[
        list[str] | None, typer.Option(help="Only this query, 1, 3 or 11; repeat it. Default: all.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="Only this policy of the tables; repeat it. Default: all."),
    ] = None,
    parameters: Annotated[
        Path | None, typer.Option(help="Newly fitted parameters (JSON). Default: the package's.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[
        Path | None, out_option("Write the same JSON to this file, and the plots to its folder.")
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for the plots.")] = None,
) -> None:
    """Repeat the thesis' 54 runs of 140 minutes with seeds, on a Flink plant fitted to its recorded
    HPA runs.

    Three steps: A, its policies on the recorded signals; B, the plant on the recorded arrivals and
    sizes; C, both in a closed loop, next to the published tables.

    Example: rheostat simulate thesis --seeds 30 --jobs 2 --out thesis.json
    """
    from rheostat_lab.thesis.comparison import summary
    from rheostat_lab.thesis.fitted_parameters import structures

    if seeds < 1 or jobs < 1:
        raise BadInput(f"seeds and jobs must be at least 1, but they are {seeds} and {jobs}")
    chosen, candidates = _cells(query, policy), structures(parameters)
    plants = {of: among[0] for of, among in candidates.items()}
    outcomes = _run(chosen, plants, seeds, jobs)
    with working("comparing with the recordings"):
        result: dict[str, Any] = {
            "rows": [outcome.as_row() for outcome in outcomes],
            "summary": summary(outcomes, candidates),
        }
    text = json.dumps(result, indent=1, allow_nan=False)
    if out:
        write_out(out, [text])
    if folder := plots or (out.parent if out else None):
        _plot(folder, outcomes, chosen, plants)
    if as_json:
        print(text)
    else:
        _show(result["summary"])


def _cells(queries: Sequence[str] | None, policies: Sequence[str] | None) -> list[Cell]:
    from rheostat_lab.thesis.thesis_runs import POLICIES, QUERIES, cells

    for what, given, known in (("query", queries, QUERIES), ("policy", policies, POLICIES)):
        for name in given or ():
            if name not in known:
                raise BadInput(f"the thesis has no {what} {name!r}; it has {', '.join(known)}")
    return [
        cell
        for cell in cells()
        if cell.query in (queries or QUERIES) and cell.policy in (policies or POLICIES)
    ]


def _run(
    chosen: Sequence[Cell], plants: dict[str, FlinkJob], seeds: int, jobs: int
) -> list[Outcome]:
    """Run all cells and show the progress on a terminal."""
    from itertools import count

    from rheostat_lab.thesis.closed_loop import run_all

    with progress("simulating", len(chosen) * seeds) as done:
        ended = count(1)
        return run_all(chosen, plants, range(seeds), jobs, lambda: done(next(ended)))


def _plot(
    folder: Path, outcomes: Sequence[Outcome], chosen: Sequence[Cell], plants: dict[str, FlinkJob]
) -> None:
    from rheostat_lab.thesis.plots import plot_all

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with working("drawing"):
            plot_all(folder, outcomes, chosen, plants)
    except OSError as error:
        raise BadInput(f"plots cannot be written to {folder}: {error.strerror}") from None


def _show(summary: dict[str, Any]) -> None:
    """Print the tables next to the published ones, then the result of each step."""
    from rich.console import Console

    console = Console()
    table = plain_table("query", "run", "latency (s)", "executors", "rescalings")
    for row in summary["step_c"]["cells"]:
        run = f"{row['policy']} {row['parameter']}{'' if row['held_out'] else ' *'}"
        table.add_row(
            row["query"],
            run,
            *(_measure(row[measure]) for measure in ("latency_s", "executors", "rescalings")),
        )
    console.print(table)
    print(
        "published: median of the seeds (5th to 95th percentile); * recorded: used to fit or to"
        " choose a structure"
    )
    for row in summary["step_a"]:
        print(
            f"A {row['recording']}: {row['matched']} of {row['changes']} recorded changes asked for"
            f" ({row['by_chance']:.0%} by chance)"
        )
    for query, row in summary["step_b"]["median_log10_latency"].items():
        print(
            f"B q{query}: median |log10 latency ratio| {row['pooled']:.2f}, to be at most"
            f" {row['at_most']}"
        )
    for query, row in summary["step_c"]["spearman_held_out"].items():
        print(
            f"C q{query}: Spearman "
            + ", ".join(
                f"{name} {_number(row[name])}" for name in ("latency_s", "executors", "rescalings")
            )
        )
    for query, row in summary["step_c"]["spearman_of_a_seed"].items():
        texts = (
            f"{name} {row[name]['median']:.2f} ({row[name]['p05']:.2f}..{row[name]['p95']:.2f})"
            for name in ("latency_s", "executors")
        )
        print(f"C q{query}: one seed in place of the published runs: " + ", ".join(texts))
    cover = summary["step_c"]["cover_held_out"]
    print(
        f"C cover of held-out cells: latency {_number(cover['latency_s'])}, executors"
        f" {_number(cover['executors'])}"
    )
    for fact in summary["step_c"]["facts"]:
        print(
            f"{'holds' if fact['holds'] else 'FAILS'}: {fact['fact']} ({fact['share']:.0%} of"
            f" {fact['seeds']} runs)"
        )


def _measure(shown: dict[str, Any]) -> str:
    return f"{shown['published']:g}: {shown['median']:.3g} ({shown['p05']:.3g}..{shown['p95']:.3g})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
