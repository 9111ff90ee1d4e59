"""One run of a sweep as plain values, which can be sent anywhere and is identified by its key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput
from rheostat.guards import Guard, guards_of
from rheostat.model import Limits, Slo
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.workload import Workload
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.loads.text import parse, with_seed
from rheostat_lab.loads.trace_file import find_trace
from rheostat_lab.sweep.plant_parameters import spark_parameters

KINDS = ("spark", "flink")
BOUNDS = "(bounds)"
"""The policy of a cell that computes the best fixed size and the clairvoyant."""

_SLO_IN_KEYS = "objective_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The common settings of all runs of a sweep."""

    minutes: float
    interval_s: float = 15.0
    warm_up_s: float = 0.0
    slo: Slo = field(default_factory=Slo)
    low: int = 1
    high: int = 16
    rescale_cost: float = 0.0

    @property
    def seconds(self) -> float:
        """The length of a run in seconds."""
        return 60 * self.minutes

    @property
    def limits(self) -> Limits:
        """Minimum and maximum number of executors."""
        return Limits.between(self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One run with everything that it needs, as plain values, so that it can be sent anywhere."""

    settings: Settings
    plant: str
    plant_kind: str
    plant_parameters: Mapping[str, Any]
    load: str
    load_text: str
    policy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    guards: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    faults: str = ""
    """The name of the faults in the specification; empty without faults."""

    fault_parameters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The cell's name, a hash of its contents, by which its result is found again."""
        # 64 bits: two of a million cells share a key about once in thirty million sweeps.
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def text(self) -> str:
        """The cell as JSON. It contains faults only if there are any, and the objective under its
        old name, so that results of older versions are found again.
        """
        values = asdict(self)
        # Keys must never change, or finished sweeps would run again.
        values["settings"][_SLO_IN_KEYS] = values["settings"].pop("slo")["latency_s"]
        if not (self.faults or self.fault_parameters):
            del values["faults"], values["fault_parameters"]
        return json.dumps(values, sort_keys=True)

    @classmethod
    def of(cls, text: str) -> Cell:
        """Return the cell of a JSON text."""
        read = json.loads(text)
        given = read["settings"]
        slo = Slo(latency_s=given.pop(_SLO_IN_KEYS))
        return cls(**{**read, "settings": Settings(**given, slo=slo)})

    @property
    def workload(self) -> Workload:
        """The load, with the cell's seed."""
        return with_seed(parse(self.load_text, find_trace), self.seed)


def guards_for(settings: Settings, given: Mapping[str, Any]) -> tuple[Guard, ...]:
    """Return a cell's guards in their fixed order; raises BadInput for an option out of range."""
    # Experiments play a day within an hour, in which a hold of an hour would last for a day.
    named = {"reversal_hold_s": 0.0} | {
        name: given[name] for name in given if name in _names(LoopOptions)
    }
    loop = LoopOptions(interval_s=settings.interval_s, **named)
    options = GuardOptions(**{name: given[name] for name in given if name in _names(GuardOptions)})
    return guards_of(settings.limits, options, loop)


def plant_values(kind: str, parameters: Mapping[str, Any]) -> SparkParameters | FlinkJob:
    """Return a plant's parameters; raises BadInput for unknown and invalid ones."""
    if kind == "spark":
        return spark_parameters(parameters)
    given = {name: value for name, value in parameters.items() if name != "executors"}
    unknown = set(given) - _names(FlinkJob)
    if unknown:
        raise BadInput(f"a Flink job has no parameter {', '.join(map(repr, sorted(unknown)))}")
    if "rate_per_s" not in given:
        raise BadInput(
            "a Flink job needs rate_per_s, the rows per second that one warm task works off"
        )
    return FlinkJob(**given)


def _names(kind: type[Any]) -> set[str]:
    return {option.name for option in fields(kind)}
