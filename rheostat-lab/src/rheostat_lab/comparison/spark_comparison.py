"""The runs of the thesis' comparison on the Spark plant: all registered policies on one job with
live placement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.policies.registry import POLICIES, find
from rheostat_lab.loads.text import parse, with_seed
from rheostat_lab.loads.trace_file import find_trace
from rheostat_lab.sweep.sweep_cell import BOUNDS, Cell, Settings

SETTINGS = Settings(
    minutes=140,
    interval_s=15,
    warm_up_s=300,
    slo=Slo(latency_s=30),
    low=1,
    high=16,
    rescale_cost=30,
)
"""The thesis' 140 minutes, sizes and HPA interval. Its latency was not an objective, so 30 s (three
trigger intervals) is our choice."""

PLANT: Mapping[str, Any] = {"executors": 8, "trigger_s": 10, "cpu_per_busy": 0.9}
"""The default plant with the thesis' first size; the CPU is observed as a share of busy time."""

LOADS: Mapping[str, str] = {
    "cosine": "0.2 * cosine",
    "bursts": "bursts:quiet=15000,burst=40000,quiet_s=900,burst_s=180",
}
"""The thesis' cosine of query 1 at a fifth of its rows, and bursts that are unpredictable."""

STARTS_S: Sequence[float] = (3.0, 10.0, 60.0)
"""Seconds until an executor has started: on Standalone, on Kubernetes or YARN with cached images
and containers, and on those if a machine has to start first."""
_LONGEST_START_S = 600.0
OURS = "measured-throughput"
"""The project's policy in this comparison: it uses its defaults, and the others are compared with
it."""

STREAMING = tuple(name for name in POLICIES if name != "deadline")
"""The policies for streams without an end: ``deadline`` has no latency objective."""

GRIDS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "catch-up": {"catch_up_s": (30, 60, 120, 300)},
    "chameleon": {
        "upper": (0.6, 0.7, 0.8),
        "lower": (0.4, 0.55),
        "interval_s": (15, 60),
        "season_s": (3600,),
    },
    "conttune": {"alpha": (1, 3), "backlog_s": (5, 15, 30)},
    "daedalus": {"recovery_s": (60, 180, 600), "pause_s": (60, 180)},
    "dhalion": {"scale_down": (0.1, 0.2, 0.4), "settle_s": (30, 120)},
    "dhalion-adapted": {"latency_threshold_s": (1, 5, 10, 15, 20, 25), "cpu_threshold": (0.4, 0.6)},
    "drs": {"slo": (2, 5, 10, 20, 30)},
    "ds2": {"read": ("sum", "max"), "factor": (0, 0.2, 0.4, 0.6)},
    "ds2-modern": {"factor": (0, 0.33, 0.66, 1, 2, 3)},
    "ds2-modern-adapted": {"factor": (0, 0.33, 0.66, 1, 2, 3)},
    "fixed": {"executors": (8, 10, 12, 14, 16)},
    "flink": {"utilization_target": (0.3, 0.5, 0.7), "metrics_window_s": (60, 300, 900)},
    "hpa": {
        "metrics": ("cpu 0.3", "cpu 0.4", "cpu 0.5", "cpu 0.6", "cpu 0.7", "cpu 0.9"),
        "down_window_s": (60, 300),
    },
    "pascal": {"cpu_max": (0.5, 0.6, 0.7, 0.8), "ahead_s": (60, 300), "season_s": (3600,)},
    "pid": {"signal": ("lag_s", "latency_s"), "setpoint": (1, 5, 10, 15, 20, 25)},
    "predictive": {"margin": (0.0, 1.0, 1.5, 2.0)},
    "spark-batch-ratio": {"up_ratio": (0.6, 0.7, 0.8, 0.9), "down_ratio": (0.3, 0.5)},
    "stochastic-mpc": {"late_price": (20, 50, 200), "usable": (0.6, 0.75, 0.9)},
    "threshold": {"high": (0.5, 0.6, 0.7, 0.8), "low": (0.2, 0.3, 0.4)},
    "varga-v1": {"target_utilization": (0.3, 0.5, 0.7, 0.9), "lag_target": (1, 10)},
    "varga-v2": {"target_utilization": (0.3, 0.5, 0.7, 0.9)},
}
"""Values tried for the other policies besides their defaults, including the thesis' values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The policies and loads to compare, over seeds 0 to ``seeds`` - 1; raises BadInput for invalid
    names and numbers.

    The others' parameters are chosen on the ``trials`` seeds after those, so that no policy is
    judged on the runs that its parameters were chosen on.
    """

    policies: Sequence[str] = STREAMING
    loads: Sequence[str] = tuple(LOADS)
    starts_s: Sequence[float] = tuple(STARTS_S)
    seeds: int = 10
    trials: int = 3
    minutes: float = SETTINGS.minutes

    def __post_init__(self) -> None:
        for policy in self.policies:
            find(policy)
        for load in self.loads:
            with_seed(parse(load_text(load), find_trace), self.seeds)
        for start_s in self.starts_s:
            if not 0 < start_s <= _LONGEST_START_S:
                raise BadInput(
                    "an executor must take more than 0 and at most"
                    f" {_LONGEST_START_S:g} s to start, but it takes {start_s:g}"
                )
        if self.seeds < 1 or self.trials < 1:
            raise BadInput(
                f"seeds and trials must be at least 1, but they are {self.seeds} and {self.trials}"
            )
        if not SETTINGS.warm_up_s < 60 * self.minutes < math.inf:
            raise BadInput(
                f"a run must be longer than its warm-up of {SETTINGS.warm_up_s / 60:g} minutes, but"
                f" it lasts {self.minutes:g}"
            )

    @property
    def places(self) -> dict[str, tuple[str, float]]:
        """Return load and start time by the name of their pair, such as ``cosine-start-10``."""
        pairs = product(self.loads, self.starts_s)
        return {place_name(load, start_s): (load, start_s) for load, start_s in pairs}

    def trial_cells(self) -> list[Cell]:
        """Return the runs that choose the others' parameters: defaults and all tried values."""
        others = [policy for policy in self.policies if policy != OURS]
        tried = [(policy, given) for policy in others for given in candidates(policy)]
        seeds = range(self.seeds, self.seeds + self.trials)
        return [
            self._cell(policy, load, seed, given)
            for load, seed, (policy, given) in product(self.places, seeds, tried)
        ]

    def judged_cells(self, chosen: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[Cell]:
        """Return the runs to compare, and the bounds of each load and seed; ``chosen`` has the
        parameters by load and policy.
        """
        policies = (BOUNDS, *dict.fromkeys((OURS, *self.policies)))
        places = product(self.places, range(self.seeds), policies)
        return [
            self._cell(policy, load, seed, chosen.get((load, policy), {}))
            for load, seed, policy in places
        ]

    def _cell(self, policy: str, place: str, seed: int, given: Mapping[str, Any]) -> Cell:
        load, start_s = self.places[place]
        return replace(
            plain_cell(policy, load, seed=seed, parameters=given),
            load=place,
            plant_parameters={**PLANT, "start_s": start_s},
            settings=replace(SETTINGS, minutes=self.minutes),
        )


def place_name(load: str, start_s: float) -> str:
    """Return the name of a load with executors that need ``start_s`` seconds to start."""
    return f"{load.partition('=')[0]}-start-{start_s:g}"


def load_text(load: str) -> str:
    """Return the text of a load, which is one of ``LOADS`` or a user's ``NAME=TEXT``; raises
    BadInput otherwise.
    """
    name, _, text = load.partition("=")
    if load in LOADS:
        return LOADS[load]
    if not (text and name.isidentifier()):
        raise BadInput(
            f"there is no load {load!r} to compare on; there are {', '.join(LOADS)}, or your own as"
            " NAME=TEXT, such as days=day:day_s=3600"
        )
    return text


def candidates(policy: str) -> list[dict[str, Any]]:
    """Return the parameters to try for a policy, the defaults first."""
    grid = GRIDS.get(policy, {})
    return [
        {},
        *(dict(zip(grid, values, strict=True)) for values in product(*grid.values()) if grid),
    ]


def plain_cell(
    policy: str, load: str = "cosine", *, seed: int = 0, parameters: Mapping[str, Any] | None = None
) -> Cell:
    """Return one run of a policy, with its defaults unless ``parameters`` are given."""
    return Cell(
        settings=SETTINGS,
        plant="spark",
        plant_kind="spark",
        plant_parameters=PLANT,
        load=load,
        load_text=load_text(load),
        policy=policy,
        parameters=parameters or {},
        seed=seed,
    )
