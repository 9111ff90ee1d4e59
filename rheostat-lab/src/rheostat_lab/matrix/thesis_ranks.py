"""The autoscalers of the thesis on Spark next to its published runs on Flink, by query. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any, TypeAlias

from rheostat_lab.matrix.matrix_spec import Cell
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import row
from rheostat_lab.matrix.simulated_runs import rank_correlation
from rheostat_lab.thesis import thesis_runs

Variant: TypeAlias = tuple[str, float]
"""A policy and the value of the parameter that the thesis varies."""

_VARIED = {
    "hpa": "metrics",
    "varga-v1": "target_utilization",
    "varga-v2": "target_utilization",
    "dhalion-adapted": "latency_threshold_s",
    "ds2-modern": "factor",
    "ds2-modern-adapted": "factor",
}
_SIGNALS = ("", "cpu", "busy")
"""Signals of an HPA that correspond to the thesis' CPU load; "" for the other policies."""

_BEST = 3
Measures: TypeAlias = tuple[float, float, float]
"""Mean latency in seconds, mean executors, and rescalings."""


def rank_table(runs: Iterable[tuple[Cell, PlayedRun]]) -> list[str]:
    """Return one row per query: Spearman's rank correlation of each measure, and the best by the
    thesis' score, mean latency plus mean executors, on Flink and on Spark.
    """
    known = list(runs)
    lines = []
    for query in thesis_runs.QUERIES:
        ours = _here([(cell, run) for cell, run in known if cell.query == f"q{query}"])
        theirs = {name: value for name, value in _published(query).items() if name in ours}
        if theirs:
            lines.append(row(f"q{query}", str(len(theirs)), *_cells(theirs, ours)))
    head = ("query", "autoscalers", "latency", "executors", "rescales", "best on Flink")
    return [row(*head, "best on Spark"), row(*["---"] * (len(head) + 1)), *lines] if lines else []


def variant(policy: str, parameters: Mapping[str, Any]) -> Variant | None:
    """Return the thesis' autoscaler that a policy with parameters corresponds to, if any."""
    signal, _, value = str(parameters.get(_VARIED.get(policy, ""), "no value")).rpartition(" ")
    try:
        return (policy, float(value)) if signal in _SIGNALS else None
    except ValueError:
        return None


def _here(runs: Sequence[tuple[Cell, PlayedRun]]) -> dict[Variant, Measures]:
    # A specification lists tuned parameters first; the thesis' own are the last of a variant.
    sizings = {variant(cell.policy, cell.parameters): cell.sizing for cell, _ in runs}
    grouped = {
        name: [
            (run.latency_mean_s, run.executors_mean, float(run.rescalings))
            for _, run in runs
            if run.policy == sizing and run.latency_mean_s is not None and run.executors_mean
        ]
        for name, sizing in sizings.items()
        if name is not None
    }
    return {
        name: (
            mean(s for s, _, _ in seeds),
            mean(n for _, n, _ in seeds),
            mean(r for *_, r in seeds),
        )
        for name, seeds in grouped.items()
        if seeds
    }


def _published(query: str) -> dict[Variant, Measures]:
    cells = [(variant(*cell.production()), cell) for cell in thesis_runs.cells()]
    return {
        name: (cell.latency_s, cell.executors, float(cell.rescalings))
        for name, cell in cells
        if name is not None and cell.query == query
    }


def _cells(theirs: Mapping[Variant, Measures], ours: Mapping[Variant, Measures]) -> list[str]:
    pairs = [[(theirs[name][i], ours[name][i]) for name in theirs] for i in range(3)]
    return [*map(rank_correlation, pairs), _best(theirs), _best({n: ours[n] for n in theirs})]


def _best(runs: Mapping[Variant, Measures]) -> str:
    ranked = sorted(runs, key=lambda name: runs[name][0] + runs[name][1])
    return ", ".join(f"`{policy}` {value:g}" for policy, value in ranked[:_BEST])
