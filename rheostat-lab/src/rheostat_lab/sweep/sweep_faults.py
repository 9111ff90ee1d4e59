"""The faults of a sweep: their names, their validation, and the plant with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rheostat.errors import BadInput
from rheostat.sim.noise import streams
from rheostat.sim.plant import Plant
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant
from rheostat_lab.sweep.faults import (
    Breakable,
    ExecutorLoss,
    LateMetrics,
    MissingMetrics,
    Stragglers,
)
from rheostat_lab.sweep.spec_places import is_number

Faults: TypeAlias = Mapping[str, Mapping[str, float]]
"""Parameters by the name of the fault; empty for a plant without faults."""

_PLANT_STREAMS = 5
"""The first random streams of a seed belong to the plant, so that a fault changes no arrival and no
task."""


@dataclass(frozen=True, slots=True)
class _Kind:
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    breaks: bool = False
    """Whether it makes executors fail, which only the Spark plant supports."""


KINDS: Mapping[str, _Kind] = {
    "executor_loss": _Kind(("mean_s",), breaks=True),
    "stragglers": _Kind(("mean_s",), ("factor", "lasting_s"), breaks=True),
    "late_metrics": _Kind(("delay_s",)),
    "missing_metrics": _Kind(("share",)),
}
"""From the inside out, so that the nesting does not depend on the order in a specification."""


def around(plant: Plant, faults: Faults, seed: int) -> Plant:
    """Return the plant wrapped by the faults, each with its own random stream of the seed; raises
    BadInput for values out of range.

    The same seed gives the same faults at the same times, whatever the policy and the other faults.
    """
    if not faults:
        return plant
    # One stream for every kind, used or not, so that another fault does not change the others.
    generators = streams(seed, _PLANT_STREAMS + len(KINDS))[_PLANT_STREAMS:]
    for kind, generator in zip(KINDS, generators, strict=True):
        if kind in faults:
            plant = _one(kind, plant, faults[kind], generator)
    return plant


def wrong(given: Any, plant_kinds: Mapping[str, str], seconds: float) -> Iterator[tuple[str, str]]:
    """Yield all errors of the named faults in a specification, each with its place below
    ``faults``.

    ``plant_kinds`` has the kind of each plant, ``seconds`` is the length of a run.
    """
    if not isinstance(given, dict):
        yield (
            "",
            (
                "is a mapping of one fault at least to its parameters, such as executor_loss:"
                f" {{mean_s: 1800}}, but it is {given!r}"
            ),
        )
        return
    for name, parameters in given.items():
        if name not in KINDS:
            yield f".{name}", f"is not a fault; there are {', '.join(KINDS)}"
        elif not isinstance(parameters, dict):
            yield (
                f".{name}",
                f"is a mapping of its parameters {', '.join(_all(name))}, but it is {parameters!r}",
            )
        else:
            yield from (
                (f".{name}{place}", message)
                for place, message in _wrong(name, parameters, plant_kinds, seconds)
            )


def _wrong(
    name: str, given: Mapping[Any, Any], plant_kinds: Mapping[str, str], seconds: float
) -> Iterator[tuple[str, str]]:
    unfit = [plant for plant, kind in plant_kinds.items() if kind != "spark"]
    if KINDS[name].breaks and unfit:
        yield (
            "",
            (
                f"needs executors that can fail, as those of a Spark plant, but {', '.join(unfit)}"
                " is none"
            ),
        )
    bad = list(_misread(name, given))
    yield from bad
    if bad:
        return
    try:
        # Created only for validation, because only the faults themselves know the ranges.
        around(SparkPlant(SparkParameters(), Constant()), {name: given}, seed=0)
    except BadInput as out_of_range:
        yield "", str(out_of_range)
    if given.get("delay_s", 0.0) >= seconds:
        yield (
            ".delay_s",
            (
                f"must be below the {seconds:g} s of a run, or no signal is ever seen, but it is"
                f" {given['delay_s']:g}"
            ),
        )


def _misread(name: str, given: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    known = _all(name)
    for parameter, value in given.items():
        if parameter not in known:
            yield f".{parameter}", f"is not known here; there are {', '.join(known)}"
        elif not is_number(value):
            yield f".{parameter}", f"must be a number, but it is {value!r}"
    for kind in KINDS[name].needed:
        if kind not in given:
            yield "", f"needs {kind}"


def _all(name: str) -> tuple[str, ...]:
    return KINDS[name].needed + KINDS[name].optional


def _one(kind: str, plant: Plant, given: Mapping[str, float], generator: Any) -> Plant:
    if kind == "late_metrics":
        return LateMetrics(plant, **given)
    if kind == "missing_metrics":
        return MissingMetrics(plant, generator=generator, **given)
    breakable: Breakable = plant  # type: ignore[assignment]  # these two come first, and a spec has them around Spark plants only
    failing = Stragglers if kind == "stragglers" else ExecutorLoss
    return failing(breakable, generator=generator, **given)
