"""The result of a comparison: best parameters, means, scores, and paired differences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rheostat_lab.bounds.nonanticipative import nonanticipative
from rheostat_lab.bounds.scoring import job_of
from rheostat_lab.comparison.spark_comparison import OURS
from rheostat_lab.sweep.plant_parameters import spark_parameters
from rheostat_lab.sweep.runner import COMPARED
from rheostat_lab.sweep.sweep_cell import Cell
from rheostat_lab.sweep.sweep_summary import mean_of, summary

_PAIRED = ("cost", "latency_mean_s", "latency_p99_s", "rescalings")
_Row = Mapping[str, Any]


def choose(rows: Sequence[_Row]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the best parameters by load and policy.

    The best attain the objective on most seeds; among equal ones, the cheapest count, or if none
    ever attains it, those with the most rows within it.
    """
    entries: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in summary(rows, COMPARED):
        entries.setdefault((entry["load"], entry["policy"]), []).append(entry)
    return {place: min(among, key=_rank)["parameters"] for place, among in entries.items()}


def compared(rows: Sequence[_Row]) -> list[dict[str, Any]]:
    """Return the sweep's summary of the rows with all measures: the bounds, then the policies that
    attain most often, the cheapest first.

    ``against`` is the other policy's value minus ours on the same load and seed: means with 95 %
    intervals by bootstrap.
    """
    ours = {(row["load"], row["seed"]): row for row in rows if row["policy"] == OURS}
    entries = summary(rows, COMPARED)
    for entry in entries:
        theirs = [
            row for row in rows if (row["load"], row["policy"]) == (entry["load"], entry["policy"])
        ]
        pairs = [
            (row, ours[row["load"], row["seed"]])
            for row in theirs
            if (row["load"], row["seed"]) in ours
        ]
        entry["against"] = {
            name: mean_of([_less(row[name], our[name]) for row, our in pairs]) for name in _PAIRED
        }
    return sorted(
        entries,
        key=lambda entry: (
            entry["load"],
            entry["policy"][0] != "(",
            -entry["attained"],
            entry["cost"]["mean"],
        ),
    )


def blind(cell: Cell) -> dict[str, Any]:
    """Return the non-anticipative bound for a cell's load and plant, independent of its policy:
    ``lower``, ``between`` and ``policy``.
    """
    settings, parameters = cell.settings, spark_parameters(cell.plant_parameters)
    job = job_of(
        parameters, limits=settings.limits, slo=settings.slo, rescale_cost=settings.rescale_cost
    )
    return asdict(nonanticipative(job, cell.workload, settings.seconds))


def described(entry: _Row) -> str:
    """Return a policy with its parameters as one line of text."""
    given = ", ".join(f"{name}={value}" for name, value in entry["parameters"].items())
    return f"{entry['policy']} ({given})" if given else str(entry["policy"])


def _rank(entry: _Row) -> tuple[float, float, str]:
    attained = entry["attained"]
    within = entry["within"]["mean"] if entry["within"] else 0.0
    return (
        -attained,
        entry["cost"]["mean"] if attained else -within,
        json.dumps(entry["parameters"], sort_keys=True),
    )


def _less(theirs: float | None, ours: float | None) -> float | None:
    return None if theirs is None or ours is None else theirs - ours
