"""``rheostat simulate demand``: the least executors that hold the objective at each load, by search
on a plant.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import out_option, tell, watched
from rheostat.cli.pairs import pairs
from rheostat.errors import BadInput
from rheostat.model import Limits, Slo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rheostat.sim.flink.flink_job import FlinkJob
    from rheostat.sim.spark.spark_parameters import SparkParameters

_STEPS = 20
_MOST_LOADS = 1000
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
        typer.Option("--set", help="A parameter of the plant, name=value; repeat it."),
    ] = None,
    objective: Annotated[
        float,
        typer.Option(
            help="Latency objective in seconds: 99 % of the rows, 90 % in every five minutes."
        ),
    ] = 10.0,
    loads: Annotated[
        str | None,
        typer.Option(help="Rows per second as FROM:TO:STEP; default: 20 up to what --max can do."),
    ] = None,
    maximum: Annotated[int, typer.Option("--max", help="Most executors that are tried.")] = 16,
    minutes: Annotated[
        float,
        typer.Option(
            help="Each load is held so long at each size; the first 5 minutes do not count."
        ),
    ] = 15.0,
    seeds: Annotated[int, typer.Option(help="Repetitions of the search.")] = 5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: plant, parameters, rows.")
    ] = False,
    out: Annotated[
        Path | None, out_option("Write the same JSON to this file; the plot goes beside it.")
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for the plot.")] = None,
) -> None:
    """Search the demand curve of a plant: the least executors that hold the objective at each
    constant load.

    The elasticity metrics of SPEC compare a run with this curve. A policy cannot do with less for
    long.

    Example: rheostat simulate demand --objective 30 --loads 5000:50000:5000
    """
    from rheostat.sim.spark.spark_parameters import SparkParameters
    from rheostat.sim.sweep.demand import demands
    from rheostat.sim.sweep.sweep_plant import demand_at, executors_by_model

    slo, most = Slo(latency_s=objective), Limits.between(1, maximum).max_executors
    if seeds < 1:
        raise BadInput(f"seeds must be at least 1, but are {seeds}")
    if not _WARM_UP_MINUTES < minutes < float("inf"):
        raise BadInput(
            f"a load must be held for more than the {_WARM_UP_MINUTES:g} minutes that do not count,"
            f" but it is {minutes:g}"
        )
    values = _values(source, plant, pairs(parameters or ()))
    rates = _rates(loads) if loads else _default_rates(values, most)
    curves = [
        demand_at(values, rates, slo, most, seed=seed, held_s=60 * minutes)
        for seed in watched(range(seeds), "searching", seeds)
    ]
    found = demands(curves)
    model = (
        [executors_by_model(values, rate, slo, most) for rate in rates]
        if isinstance(values, SparkParameters)
        else []
    )
    if where := plots or (out.parent if out else None):
        _plot(where, found, model, most, objective)
    rows = [
        {**asdict(each), **({"by_model": model[place]} if model else {})}
        for place, each in enumerate(found)
    ]
    told = {
        "plant": "spark" if model else "flink",
        "parameters": _finite(asdict(values)),
        "objective_s": objective,
        "max": most,
        "minutes": minutes,
        "seeds": seeds,
        "rows": rows,
    }
    tell(told, as_json, out, lambda: _show(rows, most, seeds))


def _values(source: str | None, plant: str, given: Mapping[str, str]) -> SparkParameters | FlinkJob:
    from rheostat.sim.spark.spark_parameters import SparkParameters
    from rheostat.sim.sweep.sweep_cell import KINDS, plant_values

    if plant not in KINDS:
        raise BadInput(f"unknown plant {plant!r}; there are {', '.join(KINDS)}")
    if source is not None and plant != "spark":
        raise BadInput(
            f"a recording is fitted with a Spark plant, but the plant asked for is {plant}; leave"
            " one of them out"
        )
    if plant == "flink":
        return plant_values(plant, {name: _number(name, text) for name, text in given.items()})
    return SparkParameters.of({**(_fitted(source) if source is not None else {}), **given})


def _finite(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without those that are infinite: JSON has no number for them, and it is
    their default.
    """
    return {name: value for name, value in given.items() if value != float("inf")}


def _number(name: str, text: str) -> float | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise BadInput(f"{name} of a Flink job must be a number, but it is {text!r}") from None


def _fitted(source: str) -> Mapping[str, Any]:
    """Return the parameters that a calibration wrote, or those of a fit to all of a recording."""
    from rich.console import Console

    from rheostat.replay import recording
    from rheostat.sim.fitting.batch_fit import fit
    from rheostat.sim.fitting.recorded_run import recorded

    path = recording.find(source)
    try:
        read = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (ValueError, OSError):
        read = None
    if isinstance(read, dict) and isinstance(read.get("parameters"), dict):
        return dict(read["parameters"])
    run = recorded(recording.read(path))
    with Console(stderr=True).status(f"fitting {path.name}"):
        return asdict(fit(run, run.batches).parameters)


def _rates(text: str) -> tuple[float, ...]:
    parts = text.split(":")
    try:
        first, last, step = (float(part) for part in parts)
    except ValueError:
        raise BadInput(
            "loads are written FROM:TO:STEP in rows per second, such as 5000:50000:5000, but they"
            f" are {text!r}"
        ) from None
    if not (0 < first <= last < float("inf") and 0 < step < float("inf")):
        raise BadInput(
            f"loads must rise from above 0 in steps above 0 rows per second, but they are {text!r}"
        )
    count = int((last - first) / step + 1e-9) + 1
    if count > _MOST_LOADS:
        raise BadInput(
            f"loads must be at most {_MOST_LOADS}, but {text!r} are {count:,}; take a larger step"
        )
    return tuple(first + number * step for number in range(count))


def _default_rates(values: SparkParameters | FlinkJob, most: int) -> tuple[float, ...]:
    from rheostat.sim.sweep.sweep_plant import capacity_rows_per_s

    limit = capacity_rows_per_s(values, most)
    if not 0 < limit < float("inf"):
        raise BadInput(
            "rows cost nothing on this plant, so there is no largest load; say which with --loads"
            " FROM:TO:STEP"
        )
    step = float(f"{limit / _STEPS:.2g}")
    return tuple(step * number for number in range(1, _STEPS + 1))


def _plot(
    folder: Path, found: Any, model: Sequence[int | None], most: int, objective_s: float
) -> None:
    from rheostat.sim.sweep.demand_plot import draw

    try:
        folder.mkdir(parents=True, exist_ok=True)
        draw(folder / "demand.svg", found, model, most, objective_s)
    except OSError as error:
        raise BadInput(f"the plot cannot be written to {folder}: {error.strerror}") from None


def _show(rows: Sequence[Mapping[str, Any]], most: int, seeds: int) -> None:
    from rich.console import Console
    from rich.table import Table

    modelled = "by_model" in rows[0]
    table = Table(
        "rows/s",
        "executors",
        "of the seeds",
        *(["batch model"] if modelled else []),
        box=None,
        header_style="bold",
    )
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
