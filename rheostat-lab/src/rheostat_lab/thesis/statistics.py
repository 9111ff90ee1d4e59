"""Statistics of the repetitions that one run cannot give: intervals, rank correlations, paired
tests, and the facts that the thesis named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from rheostat.sim.plant import Floats
from rheostat_lab.sweep.sweep_summary import interval
from rheostat_lab.thesis.closed_loop import Outcome

_MEASURES = ("latency_s", "executors", "rescalings")
Cells = Mapping[tuple[str, str, str], Sequence[Outcome]]


def by_cell(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, str], list[Outcome]]:
    """Return the runs of every cell, by (query, policy, parameter)."""
    cells: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        cells.setdefault((outcome.query, outcome.policy, outcome.parameter), []).append(outcome)
    return cells


def of(runs: Sequence[Outcome], measure: str) -> Floats:
    """Return one measure of some runs."""
    return np.array([getattr(run, measure) for run in runs], dtype=float)


def tables(cells: Cells) -> list[dict[str, Any]]:
    """Return one row per cell: median, 95 % interval of the mean by bootstrap, 5th and 95th
    percentile of the seeds, published value.
    """
    return [_row(key, runs) for key, runs in cells.items()]


def ranks(cells: Cells) -> dict[str, dict[str, float | int | None]]:
    """Return Spearman's rank correlation of the medians over seeds with the published values, by
    query, for held-out cells only.
    """
    result = {}
    for query in dict.fromkeys(key[0] for key in cells):
        held = [runs for key, runs in cells.items() if key[0] == query and runs[0].held_out]
        result[query] = {"cells": len(held), **{m: _spearman(held, m) for m in _MEASURES}}
    return result


def ranks_of_a_seed(cells: Cells) -> dict[str, dict[str, dict[str, float]]]:
    """Return the same correlation with one seed instead of the published runs: its median, 5th and
    95th percentile over the seeds.

    The published value is one run per cell. If the simulation were the truth, this would be the
    most likely value of ``ranks``.
    """
    result: dict[str, dict[str, dict[str, float]]] = {}
    for query in dict.fromkeys(key[0] for key in cells):
        held = [runs for key, runs in cells.items() if key[0] == query and runs[0].held_out]
        if len(held) >= 3 and {len(runs) for runs in held} == {len(held[0])} != {1}:
            result[query] = {measure: _ranks_of_a_seed(held, measure) for measure in _MEASURES}
    return result


def cover(cells: Cells) -> dict[str, float | int | None]:
    """Return the share of held-out cells whose published value is between the 5th and 95th
    percentile of the seeds.
    """
    held = [runs for runs in cells.values() if runs[0].held_out]
    shares: dict[str, float | int | None] = {
        m: _mean([_covered(runs, m) for runs in held]) for m in _MEASURES
    }
    both = [_covered(runs, m) for runs in held for m in _MEASURES[:2]]
    return {"cells": len(held), **shares, "latency_and_executors": _mean(both)}


def facts(cells: Cells) -> list[dict[str, Any]]:
    """Return the facts that the thesis named, with the share of seeds in which each holds; facts
    about cells that were not run are omitted.
    """
    return [
        {"fact": name, **shown}
        for name, check in _FACTS.items()
        if (shown := check(cells)) is not None
    ]


def paired(cells: Cells) -> list[dict[str, Any]]:
    """Return, by query and parameter step, two policies on the same seeds: median difference and
    Wilcoxon's signed-rank p.

    Policies are paired with those that they improve on according to the thesis.
    """
    pairs = []
    for better, base in (("Vargav2", "Vargav1"), ("DS2-modern-adapted", "DS2-modern")):
        for (query, policy, parameter), runs in cells.items():
            other = cells.get((query, base, parameter))
            if policy == better and other and len(runs) == len(other) > 1:
                pairs.append(
                    {
                        "query": query,
                        "policy": better,
                        "against": base,
                        "parameter": parameter,
                        **_tested(runs, other),
                    }
                )
    return pairs


def _tested(runs: Sequence[Outcome], other: Sequence[Outcome]) -> dict[str, float | None]:
    shown: dict[str, float | None] = {}
    for measure in _MEASURES:
        difference = of(runs, measure) - of(other, measure)
        shown[f"{measure}_difference"] = float(np.median(difference))
        shown[f"{measure}_p"] = (
            float(stats.wilcoxon(difference).pvalue) if np.any(difference != 0) else 1.0
        )
    return shown


def _row(key: tuple[str, str, str], runs: Sequence[Outcome]) -> dict[str, Any]:
    row: dict[str, Any] = dict(zip(("query", "policy", "parameter"), key, strict=True))
    row |= {"held_out": runs[0].held_out, "seeds": len(runs)}
    for measure in _MEASURES:
        values = of(runs, measure)
        estimate = interval(values)
        row[measure] = {
            "published": getattr(runs[0], f"published_{measure}"),
            "median": float(np.median(values)),
            "mean": estimate.mean,
            "ci95": [estimate.low, estimate.high],
            "p05": float(np.quantile(values, 0.05)),
            "p95": float(np.quantile(values, 0.95)),
            "covered": _covered(runs, measure),
        }
    return row


def _covered(runs: Sequence[Outcome], measure: str) -> bool:
    low, high = np.quantile(of(runs, measure), [0.05, 0.95])
    return bool(low <= getattr(runs[0], f"published_{measure}") <= high)


def _spearman(held: Sequence[Sequence[Outcome]], measure: str) -> float | None:
    if len(held) < 3:
        return None
    simulated = [float(np.median(of(runs, measure))) for runs in held]
    return float(
        stats.spearmanr(
            simulated, [getattr(runs[0], f"published_{measure}") for runs in held]
        ).statistic
    )


def _ranks_of_a_seed(held: Sequence[Sequence[Outcome]], measure: str) -> dict[str, float]:
    values = np.array([of(runs, measure) for runs in held])
    coefficients = [
        float(stats.spearmanr(seed, np.median(values, axis=1)).statistic) for seed in values.T
    ]
    return dict(
        zip(
            ("median", "p05", "p95"),
            (float(at) for at in np.quantile(coefficients, [0.5, 0.05, 0.95])),
            strict=True,
        )
    )


def _mean(held: Sequence[bool]) -> float | None:
    return float(np.mean(held)) if held else None


_Check = Callable[[Cells], dict[str, Any] | None]


def _share(holds: Sequence[bool]) -> dict[str, Any] | None:
    return (
        {"seeds": len(holds), "share": float(np.mean(holds)), "holds": bool(np.mean(holds) > 0.5)}
        if holds
        else None
    )


def _varga_v1(cells: Cells) -> dict[str, Any] | None:
    return _share(
        [run.executors > 11 for key, runs in cells.items() if key[1] == "Vargav1" for run in runs]
    )


def _varga_v2(cells: Cells) -> dict[str, Any] | None:
    pairs = [
        (runs, cells.get((query, "Vargav1", parameter)))
        for (query, policy, parameter), runs in cells.items()
        if policy == "Vargav2"
    ]
    return _share(
        [
            a.executors <= 0.6 * b.executors
            for runs, other in pairs
            if other
            for a, b in zip(runs, other, strict=True)
        ]
    )


def _cheapest_and_slowest(cells: Cells) -> dict[str, Any] | None:
    ours = cells.get(("11", "HPA", "90"))
    others = [runs for key, runs in cells.items() if key[0] == "11" and runs is not ours]
    if not ours or not others:
        return None
    median = {
        m: [float(np.median(of(runs, m))) for runs in others] for m in ("latency_s", "executors")
    }
    cheapest = [run.executors <= min(median["executors"]) for run in ours]
    return _share(
        [
            c and run.latency_s >= max(median["latency_s"])
            for c, run in zip(cheapest, ours, strict=True)
        ]
    )


def _under_provisions(query: str) -> _Check:
    """Check that q1 and q3 wait above 60 s on average with DS2 at 0 %, and q11 does not; the thesis
    has 122, 971 and 14 s.
    """

    def check(cells: Cells) -> dict[str, Any] | None:
        late = [run.latency_s > 60.0 for run in cells.get((query, "DS2-modern", "00"), ())]
        return _share(late if query != "11" else [not flag for flag in late])

    return check


def _loops(policy: str, parameter: str) -> _Check:
    """Check for the scale-up loop, in which each step adds lag that requests the next one: twice
    the required size is reached and rows still wait.
    """

    def check(cells: Cells) -> dict[str, Any] | None:
        looped = [
            run.latency_s > 20.0 and run.most_executors >= 10
            for run in cells.get(("11", policy, parameter), ())
        ]
        return (
            {
                "seeds": len(looped),
                "share": float(np.mean(looped)),
                "holds": 0 < sum(looped) < len(looped),
            }
            if looped
            else None
        )

    return check


def _dhalion_jumps(cells: Cells) -> dict[str, Any] | None:
    return _share(
        [
            run.largest_jump >= 2
            for key, runs in cells.items()
            if key[:2] == ("3", "Dhalion-adapted")
            for run in runs
        ]
    )


_FACTS: dict[str, _Check] = {
    "Varga v1 stays above 11 executors": _varga_v1,
    "Varga v2 needs at most 0.6 of Varga v1": _varga_v2,
    "HPA 90 on q11 is the cheapest and the slowest": _cheapest_and_slowest,
    "Dhalion jumps at least twofold on q3": _dhalion_jumps,
    "DS2 at 0 % under-provisions q1": _under_provisions("1"),
    "DS2 at 0 % under-provisions q3": _under_provisions("3"),
    "DS2 at 0 % does not under-provision q11": _under_provisions("11"),
    "q11 scale-up loop in some seeds and not in others: HPA 70": _loops("HPA", "70"),
    "q11 scale-up loop in some seeds and not in others: Dhalion 1": _loops("Dhalion-adapted", "01"),
    "q11 scale-up loop in some seeds and not in others: Dhalion 10": _loops(
        "Dhalion-adapted", "10"
    ),
    "q11 scale-up loop in some seeds and not in others: DS2-adapted 0": _loops(
        "DS2-modern-adapted", "00"
    ),
}
