"""``rheostat simulate demand``: the fewest executors that meet the objective at each load, by
search on a plant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.options import pairs
from rheostat.cli.output import AsJson, Out, emit, plain_table, watched
from rheostat.errors import BadInput
from rheostat.model import Limits, Slo
from rheostat_lab.commands.simulate_demand_input import default_rates, plant_of, rates_of

if TYPE_CHECKING:
    from rheostat.sim.spark.spark_parameters import SparkParameters
    from rheostat_lab.flink.flink_job import FlinkJob

_WARM_UP_MINUTES = 5.0


def demand(
    source: Annotated[
        str | None,
        typer.Argument(
            help=(
                "A journal or recording to fit a Spark plant to, or what rheostat calibrate --out"
                " wrote."
            )
        ),
    ] = None,
    plant: Annotated[str, typer.Option(help="Without one: spark or flink.")] = "spark",
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the plant, name=value; repeatable."),
    ] = None,
    slo: Annotated[
        float,
        typer.Option(help="Latency objective in seconds: 99 % of rows, 90 % in every 5 minutes."),
    ] = 10.0,
    loads: Annotated[
        str | None,
        typer.Option(help="Rows per second as FROM:TO:STEP; default: 20 up to what --max can do."),
    ] = None,
    maximum: Annotated[int, typer.Option("--max", help="Most executors that are tried.")] = 16,
    minutes: Annotated[
        float,
        typer.Option(
            help="Minutes for which each load is held at each size; the first 5 do not count."
        ),
    ] = 15.0,
    seeds: Annotated[int, typer.Option(help="Repetitions of the search.")] = 5,
    as_json: AsJson = False,
    out: Out = None,
    plots: Annotated[
        Path | None, typer.Option(help="Folder for the plot; default: that of --out.")
    ] = None,
) -> None:
    """Search the demand curve of a plant: the fewest executors that meet the objective at each
    constant load.

    The elasticity metrics of SPEC compare a run with this curve. No policy can use fewer for long.

    Example: rheostat simulate demand --slo 30 --loads 5000:50000:5000
    """
    search = _Search(Slo(latency_s=slo), Limits.between(1, maximum).max_executors, minutes, seeds)
    values = plant_of(source, plant, pairs(parameters or ()))
    rates = rates_of(loads) if loads else default_rates(values, search.most)
    rows = _rows(search, values, rates, plots or (out.parent if out else None))
    result = {
        "plant": "spark" if "by_model" in rows[0] else "flink",
        "parameters": _finite(asdict(values)),
        "slo": asdict(search.slo),
        "max": maximum,
        "minutes": minutes,
        "seeds": seeds,
        "rows": rows,
    }
    emit(result, as_json, out, lambda: _show(rows, search.most, seeds))


@dataclass(frozen=True, slots=True)
class _Search:
    slo: Slo
    most: int
    minutes: float
    seeds: int

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise BadInput(f"seeds must be at least 1, but are {self.seeds}")
        if not _WARM_UP_MINUTES < self.minutes < float("inf"):
            raise BadInput(
                f"a load must be held for more than the {_WARM_UP_MINUTES:g} minutes that do not"
                f" count, but it is {self.minutes:g}"
            )


def _rows(
    search: _Search,
    values: SparkParameters | FlinkJob,
    rates: tuple[float, ...],
    folder: Path | None,
) -> list[dict[str, Any]]:
    """Search the curve, draw it into a folder, and return its points."""
    from rheostat.sim.spark.spark_parameters import SparkParameters
    from rheostat_lab.sweep.demand_summary import demands
    from rheostat_lab.sweep.sweep_plant import demand_at, executors_by_model

    slo, most, seeds = search.slo, search.most, search.seeds
    curves = [
        demand_at(values, rates, slo, most, seed=seed, held_s=60 * search.minutes)
        for seed in watched(range(seeds), "searching", seeds)
    ]
    results = demands(curves)
    model = (
        [executors_by_model(values, rate, slo, most) for rate in rates]
        if isinstance(values, SparkParameters)
        else []
    )
    if folder:
        _plot(folder, results, model, search)
    return [
        {**asdict(result), **({"by_model": model[place]} if model else {})}
        for place, result in enumerate(results)
    ]


def _finite(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without infinite ones, which are defaults and have no JSON number."""
    return {name: value for name, value in given.items() if value != float("inf")}


def _plot(folder: Path, results: Any, model: Sequence[int | None], search: _Search) -> None:
    from rheostat_lab.sweep.demand_plot import draw

    try:
        folder.mkdir(parents=True, exist_ok=True)
        draw(folder / "demand.svg", results, model, search.most, search.slo.latency_s)
    except OSError as error:
        raise BadInput(f"the plot cannot be written to {folder}: {error.strerror}") from None


def _show(rows: Sequence[Mapping[str, Any]], most: int, seeds: int) -> None:
    from rich.console import Console

    modelled = "by_model" in rows[0]
    more = ["batch model"] if modelled else []
    table = plain_table("rows/s", "executors", "of the seeds", *more)
    for column in table.columns:
        column.justify = "right"
    for row in rows:
        spread = f"{_size(row['low'], most)} to {_size(row['high'], most)}"
        by_model = [_size(row["by_model"], most)] if modelled else []
        table.add_row(f"{row['rate_per_s']:,.6g}", _size(row["executors"], most), spread, *by_model)
    console = Console(highlight=False)
    console.print(table)
    noise = "; the batch model has no noise" if modelled else ""
    repeated = "1 seed" if seeds == 1 else f"{seeds} seeds"
    console.print(
        f"\nleast executors that hold the objective: median of {repeated}, least to most{noise}",
        soft_wrap=True,
    )


def _size(executors: int | None, most: int) -> str:
    return f"above {most}" if executors is None else str(executors)
