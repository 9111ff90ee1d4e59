"""The 54 runs of the thesis, their published values, and which of them a fit may use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from rheostat.errors import BadInput
from rheostat.policies.registry import create
from rheostat.ports import Policy
from rheostat_lab.loads.cosine import Cosine

QUERIES = ("1", "3", "11")
MINUTES = 140
FIRST_DECISION_S = 205.0
"""Seconds at which the thesis' autoscalers were started; the recorded HPA runs first scale in one
stabilization window (300 s) later, at 510 s."""

START_EXECUTORS = 8
MAX_EXECUTORS = 16

_LOADS: Mapping[str, tuple[float, float]] = {
    "1": (150_000.0, 100_000.0),
    "3": (50_000.0, 25_000.0),
    "11": (100_000.0, 50_000.0),
}
_INTERVALS_S: Mapping[str, float] = {
    "HPA": 15.0,
    "Vargav1": 15.0,
    "Vargav2": 15.0,
    "Dhalion-adapted": 10.0,
    "DS2-modern": 20.0,
    "DS2-modern-adapted": 20.0,
}
POLICIES = tuple(_INTERVALS_S)
_RECORDED: Mapping[tuple[str, str], str] = {
    ("HPA", "50"): "HPA_50",
    ("HPA", "70"): "HPA_70",
    ("HPA", "90"): "HPA_90",
    ("Vargav1", "50"): "vargav1_50",
    ("DS2-modern", "00"): "ds2-original-reactive_00",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of the thesis' tables, by their names."""

    query: str
    policy: str
    parameter: str
    latency_s: float
    executors: float
    rescalings: int

    @property
    def recording(self) -> str | None:
        """Return the name of its recording; None if there is none."""
        suffix = _RECORDED.get((self.policy, self.parameter))
        return f"query-{self.query}_{suffix}" if suffix else None

    @property
    def fitted(self) -> bool:
        """Return whether parameters are fitted on its recording."""
        return self.policy == "HPA"

    @property
    def held_out(self) -> bool:
        """Return whether neither parameters nor the choice of structures used this run."""
        return self.recording is None

    @property
    def interval_s(self) -> float:
        """Return the seconds between two decisions: 15 for an HPA, 10 for Dhalion, 20 for DS2."""
        return _INTERVALS_S[self.policy]

    def make(self) -> Policy:
        """Return the production policy with the thesis' parameters (section 4.6)."""
        return create(*self.production())

    def production(self) -> tuple[str, dict[str, object]]:
        """Return the registered name of the policy and the parameters that differ from the
        defaults, which are those of the thesis.
        """
        return _given(self.policy, self.parameter)


def cells() -> tuple[Cell, ...]:
    """Return the 54 runs in the order of the tables."""
    rows = json.loads((files("rheostat_lab.thesis") / "tables.json").read_text(encoding="utf-8"))
    return tuple(Cell(**row) for row in rows)


def load(query: str, seed: int) -> Cosine:
    """Return a query's load (thesis, table 4.1): a cosine of one hour with noise of 10,000 rows/s,
    held for a minute.
    """
    shift, amplitude = _LOADS[query]
    return Cosine(shift=shift, amplitude=amplitude, noise=10_000.0, seed=seed)


def _given(policy: str, parameter: str) -> tuple[str, dict[str, object]]:
    share = int(parameter) / 100
    if policy == "HPA":
        return "hpa", {"metrics": f"cpu {share}"}
    if policy in ("Vargav1", "Vargav2"):
        return f"varga-v{policy[-1]}", {"target_utilization": share}
    if policy == "Dhalion-adapted":
        return "dhalion-adapted", {"latency_threshold_s": float(parameter)}
    if policy in ("DS2-modern", "DS2-modern-adapted"):
        return policy.lower(), {"factor": share}
    raise BadInput(f"the thesis has no policy {policy!r}; it has {', '.join(POLICIES)}")
