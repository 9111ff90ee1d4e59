"""``rheostat simulate sweep``: runs of a specification as Spark jobs, with Parquet rows and means
with intervals.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import emit, out_option, plain_table
from rheostat_lab.commands.progress_bar import progress
from rheostat_lab.commands.seed_means import MEANS, UNDER_OVER, mean_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rheostat_lab.sweep.runner import Runner
    from rheostat_lab.sweep.sweep_cell import Cell

_WIDTH = 200


def sweep(
    spec: Annotated[
        Path,
        typer.Argument(
            help=(
                "YAML: minutes, seeds, plants, loads, faults, policies, guards; see"
                " experiments/README.md."
            )
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder of the rows; default: out/sweep/NAME. Existing rows are kept."),
    ] = None,
    master: Annotated[
        str, typer.Option(help="Spark master; none: in this process, without Spark.")
    ] = "local[2]",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: rows (the folder) and summary.")
    ] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> None:
    """Run policies x parameters x guards x plants x loads x faults x seeds on simulated jobs; a
    killed sweep resumes.

    Example: rheostat simulate sweep experiments/cooldown.yaml
    """
    from rheostat_lab.sweep.runner import rows
    from rheostat_lab.sweep.sweep_spec import read_spec
    from rheostat_lab.sweep.sweep_summary import summary

    cells = read_spec(spec)
    where = folder or Path("out/sweep") / spec.stem
    run_cells(cells, where, master)
    keys = {cell.key for cell in cells}
    entries = summary([row for row in rows(where) if row["key"] in keys])
    emit(
        {"folder": str(where), "runs": len(cells), "summary": entries},
        as_json,
        out,
        lambda: _show(entries, where),
    )


def run_cells(cells: Sequence[Cell], folder: Path, master: str) -> None:
    """Run the cells without a row in ``folder`` on a Spark master, or in this process (``none``),
    and show the progress.
    """
    from rheostat_lab.sweep.runner import here, on_spark, rows

    if master == "none":
        _run(cells, folder, here)
        return
    from rheostat.local.local_session import replay_session

    kept = {row["key"] for row in rows(folder)}
    if all(cell.key in kept for cell in cells):
        return
    with replay_session(master) as session:
        _run(cells, folder, on_spark(session))


def _run(cells: Sequence[Cell], folder: Path, runner: Runner) -> None:
    from rheostat_lab.sweep.runner import sweep as run

    with progress("runs", len(cells)) as done:
        run(cells, folder, runner, done=lambda ended, _: done(ended))


def _show(entries: Sequence[dict[str, Any]], folder: Path) -> None:
    from rich.console import Console

    columns = (
        "plant",
        "load",
        "faults",
        "policy",
        "parameters",
        "attained",
        "cost",
        "p99 s",
        "rescalings",
        "under %",
        "over %",
        "score",
    )
    table = plain_table(*columns)
    for entry in entries:
        given = ", ".join(
            f"{name}={value}"
            for name, value in (*entry["parameters"].items(), *entry["guards"].items())
        )
        shown = ("cost", "latency_p99_s", "rescalings", "accuracy_under", "accuracy_over", "score")
        numbers = (mean_cell(entry[name]) for name in shown)
        table.add_row(
            entry["plant"],
            entry["load"],
            entry["faults"],
            entry["policy"],
            given,
            f"{entry['attained']:.0%}",
            *numbers,
        )
    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    console.print(table)
    console.print(f"\n{MEANS}; rows: {folder}")
    console.print(UNDER_OVER)
