"""The input of ``rheostat simulate demand``: the plant and the loads."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rheostat.cli.output import working
from rheostat.errors import BadInput
from rheostat_lab.sweep.plant_parameters import spark_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rheostat.sim.spark.spark_parameters import SparkParameters
    from rheostat_lab.flink.flink_job import FlinkJob

_STEPS = 20
_MOST_LOADS = 1000


def plant_of(
    source: str | None, plant: str, given: Mapping[str, str]
) -> SparkParameters | FlinkJob:
    """Return the plant of a kind, or one fitted to ``source``; raises BadInput."""
    from rheostat_lab.sweep.sweep_cell import KINDS, plant_values

    if plant not in KINDS:
        raise BadInput(f"unknown plant {plant!r}; there are {', '.join(KINDS)}")
    if source is not None and plant != "spark":
        raise BadInput(
            f"a recording is fitted with a Spark plant, but the plant asked for is {plant}; leave"
            " one of them out"
        )
    if plant == "flink":
        return plant_values(plant, {name: _number(name, text) for name, text in given.items()})
    return spark_parameters({**(_fitted(source) if source is not None else {}), **given})


def _number(name: str, text: str) -> float | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise BadInput(f"{name} of a Flink job must be a number, but it is {text!r}") from None


def _fitted(source: str) -> Mapping[str, Any]:
    """Return the parameters of a calibration file, or of a fit to a complete recording."""
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
    with working(f"fitting {path.name}"):
        return asdict(fit(run, run.batches).parameters)


def rates_of(text: str) -> tuple[float, ...]:
    """Return the loads of ``FROM:TO:STEP``, rows per second; raises BadInput."""
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


def default_rates(values: SparkParameters | FlinkJob, most: int) -> tuple[float, ...]:
    """Return 20 loads up to the capacity of ``most`` executors of a plant; raises BadInput if that
    is not finite.
    """
    from rheostat_lab.sweep.sweep_plant import capacity_rows_per_s

    limit = capacity_rows_per_s(values, most)
    if not 0 < limit < float("inf"):
        raise BadInput(
            "rows cost nothing on this plant, so there is no largest load; set it with --loads"
            " FROM:TO:STEP"
        )
    step = float(f"{limit / _STEPS:.2g}")
    return tuple(step * number for number in range(1, _STEPS + 1))
