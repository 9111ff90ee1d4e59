"""Which policies play which days; everything is checked before anything is started."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rheostat.cli.options.name_value_pairs import pairs
from rheostat.errors import BadInput
from rheostat_lab.demo.demo_options import Demo

OF_A_DAY = ("seconds", "peak", "ramp_share", "cluster")
"""What all days of a specification have in common."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One day: a query, who sizes it, and the seed of its bids and of the load's noise.

    ``policy`` is in the words of a command line: its name, then the parameters that are not its
    defaults, as in ``varga-v2 cooldown_s=10`` or ``hpa 'metrics=lag_rows 500 each'``.
    """

    query: str
    policy: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        policy = re.sub(r"[^A-Za-z0-9_.=]+", "-", "-".join(words(self.policy)))
        return f"{self.query}-{policy}-{self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliciesSpec:
    """Each of ``policies`` (names, with parameters or without) sizes each of ``queries`` on each of
    ``seeds``, for a day of ``seconds`` on a ``cluster`` of this computer, with the demo's ``peak``
    (None: that of the query) and ``ramp_share``; the first policy is compared with the others.
    """

    experiment: str
    queries: tuple[str, ...]
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    seconds: float = 240.0
    peak: float | None = None
    ramp_share: float = 0.16
    cluster: str = "standalone"

    def __post_init__(self) -> None:
        _require_list("queries", self.queries, str, "names")
        _require_list("policies", self.policies, str, "names")
        _require_list("seeds", self.seeds, int, "whole numbers")
        _require_number("seconds", self.seconds)
        _require_number("ramp_share", self.ramp_share)
        if self.peak is not None:
            _require_number("peak", self.peak)
        for cell in self.cells():
            self.demo(cell, Path())  # made for show: the demo checks what it is asked for

    def cells(self) -> Iterator[Cell]:
        """Yield the days, seed by seed: whatever is there is as comparable as it can be."""
        for seed in self.seeds:
            for query in self.queries:
                for policy in self.policies:
                    yield Cell(query, policy, seed)

    def demo(self, cell: Cell, out: Path) -> Demo:
        """Return a day as the demo takes it; raises BadInput for what it refuses."""
        name, *parameters = words(cell.policy)
        return Demo(
            query=cell.query,
            policy=name,
            parameters=pairs(parameters),
            seed=cell.seed,
            seconds=self.seconds,
            peak=self.peak,
            ramp_share=self.ramp_share,
            cluster=self.cluster,
            out=out,
        )


def words(policy: str) -> list[str]:
    """Return a policy's name and its parameters; raises BadInput for a quote without its end."""
    try:
        return shlex.split(policy) or [policy]
    except ValueError:
        raise BadInput(f"a policy has a quote without its end: {policy}") from None


def _require_number(name: str, given: Any) -> None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise BadInput(f"{name} must be a number, but it is {given!r}")


def _require_list(name: str, given: Any, kind: type, what: str) -> None:
    if not isinstance(given, tuple) or not given:
        raise BadInput(f"{name} must be a list of {what}, as [a, b], but it is {given!r}")
    for entry in given:
        if isinstance(entry, bool) or not isinstance(entry, kind):
            raise BadInput(f"{name} must be {what}, but one is {entry!r}")
        if given.count(entry) > 1:
            raise BadInput(f"{name} has {entry!r} twice")
