"""The answers of runs to the thesis' questions: which autoscaler, and whether the ranks on Flink
hold on Spark. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any, TypeAlias

from rheostat_lab.demo.demo_options import DYNAMIC_ALLOCATION
from rheostat_lab.matrix.matrix_spec import Cell
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import of, row
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

_OURS, _THESIS, _FIXED, _SPARK = "`predictive`", "the thesis' six", "a fixed size", "Spark's own"
_TUNED = "tuned on a simulated day"
_KINDS = (_OURS, _THESIS, _TUNED, _FIXED, _SPARK)

_TUNED_COOLDOWN_S = 10
"""Cooldown of the tuned DS2; the thesis' own has another one."""

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


def answer_table(runs: Iterable[tuple[Cell, PlayedRun]]) -> list[str]:
    """Return one row per query: of each kind of sizing, the cheapest that attained the objective on
    all of its seeds, with its mean slot-hours.
    """
    by_query: dict[str, dict[str, list[tuple[Cell, PlayedRun]]]] = {}
    for cell, run in runs:
        by_query.setdefault(cell.query, {}).setdefault(_kind(cell), []).append((cell, run))
    lines = [
        row(query, *(_cheapest([run for _, run in kinds.get(kind, [])]) for kind in _KINDS))
        for query, kinds in by_query.items()
    ]
    return [row("query", *_KINDS), row(*["---"] * (1 + len(_KINDS))), *lines] if lines else []


def _kind(cell: Cell) -> str:
    of_policy = {"predictive": _OURS, "fixed": _FIXED, DYNAMIC_ALLOCATION: _SPARK}
    if cell.policy in of_policy:
        return of_policy[cell.policy]
    is_tuned = cell.parameters.get("cooldown_s") == _TUNED_COOLDOWN_S
    return _THESIS if variant(cell.policy, cell.parameters) and not is_tuned else _TUNED


def _cheapest(runs: Sequence[PlayedRun]) -> str:
    policies = {policy: of(runs, policy) for policy in dict.fromkeys(run.policy for run in runs)}
    hours = {
        policy: mean(run.slot_hours for run in days)
        for policy, days in policies.items()
        if all(run.attained for run in days)
    }
    if not hours:
        return f"missed by all {len(policies)}" if policies else "not played"
    best = min(hours, key=lambda policy: hours[policy])
    return f"`{best}` {hours[best]:.3f} ({len(hours)} of {len(policies)} attain)"


def variant(policy: str, parameters: Mapping[str, Any]) -> Variant | None:
    """Return the thesis' autoscaler that a policy with parameters corresponds to, if any."""
    signal, _, value = str(parameters.get(_VARIED.get(policy, ""), "no value")).rpartition(" ")
    try:
        return (policy, float(value)) if signal in _SIGNALS else None
    except ValueError:
        return None


def _here(runs: Sequence[tuple[Cell, PlayedRun]]) -> dict[Variant, Measures]:
    sizings = {
        variant(cell.policy, cell.parameters): cell.sizing
        for cell, _ in runs
        if _kind(cell) == _THESIS
    }
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
