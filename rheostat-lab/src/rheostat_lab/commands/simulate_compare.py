"""``rheostat simulate compare``: all policies on the Spark plant, next to the bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import out_option, plain_table, write_out
from rheostat.errors import BadInput
from rheostat_lab.commands.seed_means import MEANS, UNDER_OVER, mean_cell
from rheostat_lab.commands.simulate_sweep import run_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rheostat_lab.comparison.spark_comparison import Comparison
    from rheostat_lab.sweep.runner import Row
    from rheostat_lab.sweep.sweep_cell import Cell

_WIDTH = 170


def compare(
    seeds: Annotated[
        int, typer.Option(help="Repetitions; all policies meet the same arrivals on the same seed.")
    ] = 10,
    trials: Annotated[
        int, typer.Option(help="Seeds, after those, on which the others' parameters are chosen.")
    ] = 3,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this policy; repeat it. Default: all. predictive is always included."
        ),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this load: cosine, bursts, or your own as NAME=TEXT, such as"
            " days=day:day_s=3600; repeat it. Default: cosine and bursts."
        ),
    ] = None,
    start: Annotated[
        list[float] | None,
        typer.Option(
            help="Only executors with this start time in seconds; repeat it. Default: 3, 10, 60."
        ),
    ] = None,
    minutes: Annotated[
        float,
        typer.Option(help="Length of a run; its first 5 minutes do not count for the objective."),
    ] = 140.0,
    master: Annotated[
        str, typer.Option(help="Spark master; none: in this process, without Spark.")
    ] = "local[2]",
    folder: Annotated[
        Path, typer.Option(help="Folder of the rows; existing ones are not run again.")
    ] = Path("out/compare"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: rows, summary, chosen, non_anticipative.")
    ] = False,
    out: Annotated[
        Path | None, out_option("Write the same JSON to this file, and the plots to its folder.")
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for the plots.")] = None,
) -> None:
    """Compare all policies on the Spark plant with live placement: ours with its defaults, the
    others with the best parameters that were tried.

    The loads are the thesis' cosine and bursts, each with executors that start in 3, 10 and 60 s.
    The result includes the best fixed size, the clairvoyant and the non-anticipative bound.

    Each difference to ours is paired by seed, with its interval. On loads that no policy was tuned
    on: rheostat simulate compare --load "days=0.1 * day:day_s=3600" --start 60

    Example: rheostat simulate compare --seeds 10 --out compare.json
    """
    from rheostat_lab.comparison.compared import choose
    from rheostat_lab.comparison.spark_comparison import LOADS, STARTS_S, STREAMING, Comparison

    comparison = Comparison(
        policies=policy or STREAMING,
        loads=load or tuple(LOADS),
        starts_s=start or STARTS_S,
        seeds=seeds,
        trials=trials,
        minutes=minutes,
    )
    chosen = choose(_ran(comparison.trial_cells(), folder, master))
    cells = comparison.judged_cells(chosen)
    result = _result(comparison, chosen, cells, _ran(cells, folder, master))
    entries, blinds = result["summary"], result["non_anticipative"]
    text = json.dumps(result, indent=1, allow_nan=False)
    if out:
        write_out(out, [text])
    if where := plots or (out.parent if out else None):
        _plot(where, comparison, entries, blinds, cells[0].settings.slo.latency_s)
    if as_json:
        print(text)
    else:
        _show(entries, blinds)


def _result(
    comparison: Comparison,
    chosen: Mapping[tuple[str, str], Mapping[str, Any]],
    cells: Sequence[Cell],
    rows: Sequence[Row],
) -> dict[str, Any]:
    """Return the complete result of a comparison as JSON values."""
    from rheostat_lab.comparison.compared import blind, compared
    from rheostat_lab.comparison.spark_comparison import load_text
    from rheostat_lab.sweep.sweep_cell import BOUNDS

    bounded = [cell for cell in cells if cell.policy == BOUNDS and cell.seed == 0]
    return {
        "runs": len(cells),
        "trials": comparison.trials,
        "loads": {name: load_text(place) for name, (place, _) in comparison.places.items()},
        "starts_s": {name: start_s for name, (_, start_s) in comparison.places.items()},
        "plant": cells[0].plant_parameters,
        "chosen": [
            {"load": load, "policy": name, "parameters": best}
            for (load, name), best in chosen.items()
        ],
        "rows": rows,
        "summary": compared(rows),
        "non_anticipative": {cell.load: blind(cell) for cell in bounded},
    }


def _ran(cells: Sequence[Cell], folder: Path, master: str) -> list[Row]:
    from rheostat_lab.sweep.runner import rows

    run_cells(cells, folder, master)
    keys = {cell.key for cell in cells}
    return [row for row in rows(folder) if row["key"] in keys]


def _plot(
    folder: Path,
    comparison: Comparison,
    entries: Sequence[Mapping[str, Any]],
    blinds: Mapping[str, Any],
    slo_s: float,
) -> None:
    from rheostat_lab.comparison.compared_plot import scatter

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for load in comparison.places:
            scatter(folder, load, entries, _blind_cost(blinds[load]), slo_s)
    except OSError as error:
        raise BadInput(f"plots cannot be written to {folder}: {error.strerror}") from None


def _blind_cost(blind: Mapping[str, Any]) -> float | None:
    return blind["policy"]["cost"] if blind["policy"] else None


def _show(entries: Sequence[Mapping[str, Any]], blinds: Mapping[str, Any]) -> None:
    from rich.console import Console

    from rheostat_lab.comparison.compared import described

    names = (
        "latency_mean_s",
        "latency_p99_s",
        "late_s",
        "rescalings",
        "accuracy_under",
        "accuracy_over",
    )
    columns = (
        "load",
        "policy",
        "attained",
        "cost",
        "less ours",
        "latency mean s",
        "99 % s",
        "late s",
        "rescalings",
        "under %",
        "over %",
    )
    table = plain_table(*columns, "score")
    for entry in entries:
        attained = f"{round(entry['attained'] * entry['seeds'])} of {entry['seeds']}"
        score = mean_cell(entry["score"]) if entry["attained"] == 1 else ""
        numbers = [mean_cell(entry[name]) for name in names]
        table.add_row(
            entry["load"],
            described(entry),
            attained,
            mean_cell(entry["cost"]),
            mean_cell(entry["against"]["cost"]),
            *numbers,
            score,
        )
    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    console.print(table)
    for load, blind in blinds.items():
        cost = _blind_cost(blind)
        most = "nothing that attains" if cost is None else f"{cost:,.0f}"
        console.print(f"non-anticipative bound, {load}: {blind['lower']:,.0f} to {most}")
    console.print(f"{MEANS}; a score only where all seeds attain the objective")
    console.print(UNDER_OVER)
