"""The runs of a specification like that of a sweep, with a real cluster instead of the plant;
everything is checked before anything starts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.nexmark.queries import QUERIES, find_query
from rheostat_lab.sweep.spec_places import grid_of, is_number

SET_UP_S = 60.0
"""Seconds that a run takes in addition to its load, as a first estimate."""

_NUMBERS = (
    *("minutes", "slo", "interval_s", "service_ms", "trigger_s", "hours"),
    *("cooldown_out_s", "cooldown_in_s"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: a query, its load, its sizing, and the seed of the events and of the noise."""

    query: str
    load: str
    policy: str
    parameters: Mapping[str, Any]
    seed: int

    @property
    def sizing(self) -> str:
        """The policy with the parameters that differ from its defaults."""
        return " ".join([self.policy, *(f"{name}={v}" for name, v in self.parameters.items())])

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        parts = [self.query, self.load, self.sizing, str(self.seed)]
        if self.load == self.query:
            del parts[1]
        return re.sub(r"[^A-Za-z0-9_.=]+", "-", "-".join(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSpec:
    """Each of ``policies`` (a name, or ``policy`` and ``set``, whose lists are a grid) sizes each
    of ``queries`` under each of ``loads`` (a workload as text; one named after a query applies only
    to that query) on each of ``seeds``, on a ``cluster`` of this machine.
    """

    experiment: str
    minutes: float
    queries: tuple[str, ...]
    loads: Mapping[str, str]
    policies: tuple[Any, ...]
    seeds: tuple[int, ...]
    limits: tuple[int, int] = (1, 4)
    start: int | None = None
    slo: float = 10.0
    interval_s: float = 3.0
    trigger_s: float = 1.0
    service_ms: float = 2.0
    cooldown_out_s: float = 5.0
    cooldown_in_s: float = 10.0
    cores: int = 2
    cluster: str = "standalone"
    hours: float = field(default=24.0, metadata={"help": "the longest that the runs may take"})

    def __post_init__(self) -> None:
        for name in ("queries", "policies", "seeds"):
            given = getattr(self, name)
            if not isinstance(given, tuple) or not given:
                raise BadInput(f"{name} must be a list, as [a, b], but it is {given!r}")
        for name in _NUMBERS:
            if not is_number(getattr(self, name)):
                raise BadInput(f"{name} must be a number, but it is {getattr(self, name)!r}")
        if not isinstance(self.limits, tuple):
            raise BadInput(f"limits must be a list, as [1, 4], but it is {self.limits!r}")
        self._check_loads()
        started = () if self.start is None else (self.start,)
        for number in (*self.seeds, self.cores, *self.limits, *started):
            if isinstance(number, bool) or not isinstance(number, int):
                raise BadInput(
                    f"seeds, cores, limits and start are whole numbers, but one is {number!r}"
                )
        if len(self.limits) != 2:
            raise BadInput(f"limits are two numbers, such as [1, 4], but they are {self.limits!r}")
        if self.start is not None and not self.limits[0] <= self.start <= self.limits[1]:
            raise BadInput(f"start must be within the limits {self.limits}, but it is {self.start}")
        names = [cell.name for cell in self.cells()]
        if twice := [name for name in names if names.count(name) > 1]:
            raise BadInput(f"the run {twice[0]} occurs twice")
        for cell in self.cells():
            self.demo(cell, Path())  # the demo validates its own options

    def _check_loads(self) -> None:
        """Raise BadInput for loads that are no text, and for queries and loads without a run."""
        if not isinstance(self.loads, Mapping) or not self.loads:
            raise BadInput("loads must be a mapping, such as day: day:low=200,peak=2600")
        for name, load in self.loads.items():
            if not (isinstance(name, str) and isinstance(load, str) and load):
                raise BadInput(
                    f"a load is a name and a text, such as day: day:low=200,peak=2600, but one is"
                    f" {name}: {load}"
                )
        for query in self.queries:
            if not isinstance(query, str):
                raise BadInput(f"queries are names, as [q1, q3], but one is {query!r}")
            find_query(query)
            if not self._loads(query):
                raise BadInput(f"loads has none for {query}; add one with its name")
        played = {load for query in self.queries for load in self._loads(query)}
        if idle := [load for load in self.loads if load not in played and load not in QUERIES]:
            raise BadInput(f"no query is played with the load {idle[0]}: each has its own")

    def cells(self) -> Iterator[Cell]:
        """Yield the runs so that each prefix is a fair comparison: seed by seed, and for each seed
        the first parameters of every policy on all queries, then the second.
        """
        entries = [
            (rank, policy, parameters)
            for entry in self.policies
            for rank, (policy, parameters) in enumerate(_entries(entry))
        ]
        ranked = sorted(entries, key=lambda entry: entry[0])  # stable: keeps the listed order
        for seed in self.seeds:
            for _, group in groupby(ranked, key=lambda entry: entry[0]):
                sized = list(group)
                for query in self.queries:
                    for load in self._loads(query):
                        for _, policy, parameters in sized:
                            yield Cell(query, load, policy, parameters, seed)

    def sizings(self) -> list[str]:
        """Return the policies with their parameters, in the order of the runs."""
        return list(dict.fromkeys(cell.sizing for cell in self.cells()))

    def demo(self, cell: Cell, out: Path) -> Demo:
        """Return the options of the demo for a run; raises BadInput for invalid ones."""
        low, high = self.limits
        if cell.policy == "fixed":  # it has its size from the start
            low = cell.parameters.get("executors") or low
        return Demo(
            query=cell.query,
            workload=self.loads[cell.load],
            policy=cell.policy,
            parameters=cell.parameters,
            seed=cell.seed,
            seconds=60 * self.minutes,
            slo=Slo(latency_s=self.slo),
            min_executors=low,
            max_executors=high,
            start=None if cell.policy == "fixed" else self.start,
            cores=self.cores,
            interval_s=self.interval_s,
            trigger_s=self.trigger_s,
            service_ms=self.service_ms,
            cooldown_out_s=self.cooldown_out_s,
            cooldown_in_s=self.cooldown_in_s,
            cluster=self.cluster,
            restarts_broker=False,
            out=out,
        )

    def conditions(self) -> dict[str, Any]:
        """Return the common conditions of all runs, as JSON values."""
        left_out = {"experiment", "queries", "policies", "seeds", "hours"}
        given = {name: value for name, value in asdict(self).items() if name not in left_out}
        return dict(json.loads(json.dumps(given)))

    def _loads(self, query: str) -> list[str]:
        """Return the loads of a query: its own, or those that are not specific to a query."""
        if query in self.loads:
            return [query]
        return [name for name in self.loads if name not in QUERIES]


def _entries(entry: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    named: Any = {"policy": entry} if isinstance(entry, str) else entry
    if not (
        isinstance(named, Mapping)
        and isinstance(named.get("policy"), str)
        and isinstance(named.get("set", {}), Mapping)
        and set(named) <= {"policy", "set"}
    ):
        raise BadInput(f"a policy is a name, or a mapping with policy and set, not {entry!r}")
    if [] in named.get("set", {}).values():
        raise BadInput(f"a list under set has one value at least, but {entry!r} has none")
    for parameters in grid_of(named.get("set", {})):
        yield named["policy"], parameters
