"""The statistics (ranks, coverage, named facts, paired tests) on outcomes with known results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rheostat_lab.thesis import statistics
from rheostat_lab.thesis.closed_loop import Outcome

ONE = Outcome(
    query="1",
    policy="Vargav1",
    parameter="50",
    seed=0,
    latency_s=2.0,
    executors=14.0,
    rescalings=40,
    published_latency_s=2.0,
    published_executors=14.0,
    published_rescalings=40,
    held_out=True,
    most_executors=16,
    largest_jump=2.0,
)


def seeds(one: Outcome, latencies: list[float]) -> list[Outcome]:
    return [replace(one, seed=seed, latency_s=latency) for seed, latency in enumerate(latencies)]


def test_ranks_are_computed_from_held_out_medians() -> None:
    outcomes = []
    for parameter, published, simulated in (
        ("30", 1.0, 5.0),
        ("50", 2.0, 6.0),
        ("70", 3.0, 7.0),
        ("90", 4.0, 100.0),
    ):
        cell = replace(
            ONE,
            parameter=parameter,
            published_latency_s=published,
            published_executors=published,
            held_out=parameter != "90",
        )
        counted = replace(
            cell,
            executors=-simulated,
            published_rescalings=int(published),
            rescalings=int(simulated),
        )
        outcomes += seeds(counted, [simulated, simulated, 1000.0])
    rank = statistics.ranks(statistics.by_cell(outcomes))["1"]
    assert rank["cells"] == 3
    assert rank["latency_s"] == pytest.approx(1.0)
    assert rank["executors"] == pytest.approx(-1.0)


def test_single_seeds_are_ranked_against_the_medians() -> None:
    outcomes = []
    for parameter, latencies in (
        ("30", [1.0, 1.0, 3.0]),
        ("50", [2.0, 2.0, 2.0]),
        ("70", [3.0, 3.0, 1.0]),
    ):
        outcomes += seeds(
            replace(
                ONE, parameter=parameter, executors=float(parameter), rescalings=int(parameter)
            ),
            latencies,
        )
    ranks = statistics.ranks_of_a_seed(statistics.by_cell(outcomes))["1"]
    assert ranks["latency_s"]["median"] == pytest.approx(1.0)
    assert ranks["latency_s"]["p05"] == pytest.approx(-0.8)
    assert ranks["executors"] == pytest.approx({"median": 1.0, "p05": 1.0, "p95": 1.0})
    assert statistics.ranks_of_a_seed(statistics.by_cell(outcomes[::3])) == {}


def test_a_published_value_is_covered_between_the_5th_and_95th_percentile() -> None:
    inside = seeds(replace(ONE, published_latency_s=5.0), [float(n) for n in range(10)])
    outside = seeds(
        replace(ONE, parameter="70", published_latency_s=50.0), [float(n) for n in range(10)]
    )
    cover = statistics.cover(statistics.by_cell([*inside, *outside]))
    assert cover["latency_s"] == 0.5
    assert cover["cells"] == 2


def test_policies_are_compared_seed_by_seed() -> None:
    base = seeds(ONE, [float(n) for n in range(12)])
    better = [
        replace(outcome, policy="Vargav2", latency_s=outcome.latency_s - 1.0) for outcome in base
    ]
    (row,) = statistics.paired(statistics.by_cell([*base, *better]))
    assert row["latency_s_difference"] == pytest.approx(-1.0)
    assert row["latency_s_p"] < 0.01
    assert row["executors_p"] == 1.0


def test_a_fact_has_the_share_of_seeds_and_is_omitted_without_its_cells() -> None:
    runs = [*seeds(ONE, [1.0, 1.0]), replace(ONE, seed=2, executors=10.0)]
    (fact,) = statistics.facts(statistics.by_cell(runs))
    assert fact["fact"] == "Varga v1 stays above 11 executors"
    assert fact["share"] == pytest.approx(2 / 3)
    assert fact["holds"]


def test_a_loop_must_occur_in_some_seeds_but_not_in_all() -> None:
    hpa = replace(ONE, query="11", policy="HPA", parameter="70", latency_s=50.0)
    calm = replace(hpa, seed=1, latency_s=3.0)
    name = "q11 scale-up loop in some seeds and not in others: HPA 70"
    for runs, holds in (([hpa], False), ([hpa, calm], True), ([calm], False)):
        results = {
            fact["fact"]: fact["holds"] for fact in statistics.facts(statistics.by_cell(runs))
        }
        assert results[name] is holds
