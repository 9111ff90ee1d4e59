"""Summarizes a sweep's rows: means over the seeds with 95 % intervals, and the score."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rheostat.sim.measures import ELASTICITY
from rheostat.sim.plant import Floats
from rheostat_lab.bounds.scoring import score

# Bootstrap draws; the ends of a 95 % interval are then accurate to about 2 % of its width.
_DRAWS = 2000
SHOWN = ("cost", "latency_mean_s", "latency_p99_s", "executors_mean", "rescalings", *ELASTICITY)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over seeds and its 95 % interval, by bootstrap over the seeds; the interval of one
    seed is the mean itself.
    """

    mean: float
    low: float
    high: float


def summary(
    rows: Sequence[Mapping[str, Any]], shown: Sequence[str] = SHOWN
) -> list[dict[str, Any]]:
    """Return one entry per plant, load, faults, policy, parameters and guards, sorted: seeds, share
    attained, means of ``shown``, score.

    The score is paired by seed with the best fixed size and the clairvoyant's path for the same
    plant, load and seed, if the sweep contains them; these have no faults. The clairvoyant's
    optimum is between its path and ``(clairvoyant bound)``.
    """
    references = {
        (row["plant"], row["load"], row["seed"], row["policy"]): row["cost"]
        for row in rows
        if row["policy"].startswith("(")
    }
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        group = tuple(
            row.get(name, "")
            for name in ("plant", "load", "faults", "policy", "parameters", "guards")
        )
        groups.setdefault(group, []).append(row)
    return [
        _entry(names, sorted(group, key=lambda row: row["seed"]), references, shown)
        for names, group in sorted(groups.items())
    ]


def _entry(
    names: tuple[str, ...],
    group: Sequence[Mapping[str, Any]],
    references: Mapping[tuple[Any, ...], float],
    shown: Sequence[str],
) -> dict[str, Any]:
    plant, load, faults, policy, parameters, guards = names
    entry: dict[str, Any] = {
        "plant": plant,
        "load": load,
        "faults": faults,
        "policy": policy,
        "parameters": json.loads(parameters),
        "guards": json.loads(guards),
        "seeds": len(group),
        "attained": sum(row["attained"] for row in group) / len(group),
    }
    for name in shown:
        entry[name] = mean_of([row.get(name) for row in group])
    entry["score"] = (
        # The references have no score, because scores are relative to them.
        None if policy.startswith("(") else mean_of([_score(row, references) for row in group])
    )
    return entry


def _score(row: Mapping[str, Any], references: Mapping[tuple[Any, ...], float]) -> float | None:
    static = references.get((row["plant"], row["load"], row["seed"], "(best static)"))
    bound = references.get((row["plant"], row["load"], row["seed"], "(clairvoyant)"))
    return (
        None
        if static is None or bound is None
        else score(row["cost"], static, bound, attained=row["attained"])
    )


def mean_of(values: Sequence[float | None]) -> dict[str, float] | None:
    """Return ``interval`` of the known values as a mapping; None without known values."""
    known = np.array([value for value in values if value is not None], dtype=float)
    if not len(known):
        return None
    estimate = interval(known)
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}


def interval(values: Floats) -> Mean:
    """Return mean and 95 % interval of values from independent seeds, with fixed draws."""
    # A fixed seed, so that the same rows give the same table.
    drawn = np.random.default_rng(0).choice(values, (_DRAWS, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Mean(float(values.mean()), float(low), float(high))
