"""The results of a comparison, from hand-written rows."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from rheostat.sim.workload import Constant
from rheostat_lab.bounds.bounded_job import curve_of
from rheostat_lab.bounds.scoring import best_static, job_of
from rheostat_lab.comparison.compared import blind, choose, compared, described
from rheostat_lab.comparison.compared_plot import scatter
from rheostat_lab.comparison.spark_comparison import OURS, PLANT, SETTINGS, plain_cell
from rheostat_lab.sweep.plant_parameters import spark_parameters
from rheostat_lab.sweep.runner import COMPARED

LOUD = 40_000.0
"""Rows per second in a burst."""


def row(
    policy: str,
    seed: int,
    *,
    given: dict[str, Any] | None = None,
    attained: bool = True,
    **numbers: float | None,
) -> dict[str, Any]:
    place = {
        "plant": "spark",
        "load": "cosine",
        "policy": policy,
        "parameters": json.dumps(given or {}),
        "guards": "{}",
    }
    return {**place, "seed": seed, "attained": attained, **dict.fromkeys(COMPARED, 1.0), **numbers}


def test_the_best_parameters_attain_most_often_at_the_lowest_cost() -> None:
    tried = [
        row("hpa", 1, given={"target": 0.9}, attained=False, cost=10),
        row("hpa", 2, given={"target": 0.9}, cost=10),
        row("hpa", 1, given={"target": 0.7}, cost=30),
        row("hpa", 2, given={"target": 0.7}, cost=32),
        row("hpa", 1, given={"target": 0.5}, cost=50),
        row("hpa", 2, given={"target": 0.5}, cost=52),
    ]
    assert choose(tried) == {("cosine", "hpa"): {"target": 0.7}}


def test_if_no_parameters_attain_those_with_the_fewest_late_rows_are_best() -> None:
    tried = [
        row("drs", 1, given={"x": x}, attained=False, cost=cost, within=within)
        for x, cost, within in ((1, 10, 0.3), (2, 90, 0.9))
    ]
    assert choose([*tried, row("drs", 1, given={"x": 3}, attained=False, cost=5, within=None)]) == {
        ("cosine", "drs"): {"x": 2}
    }


def test_differences_are_paired_by_seed() -> None:
    rows = [
        row(OURS, 0, cost=100),
        row(OURS, 1, cost=300),
        row("hpa", 1, cost=340),
        row("hpa", 0, cost=120, latency_p99_s=None),
    ]
    theirs = next(entry for entry in compared(rows) if entry["policy"] == "hpa")
    assert theirs["against"]["cost"] == {"mean": 30.0, "low": 20.0, "high": 40.0}
    assert theirs["against"]["latency_p99_s"]["mean"] == 0.0  # of the only seed with both


def test_bounds_come_first_then_attaining_policies_by_cost() -> None:
    rows = [
        row("drs", 0, attained=False, cost=1),
        row("hpa", 0, cost=70),
        row(OURS, 0, cost=60),
        row("(best static)", 0, cost=100),
        row("(clairvoyant)", 0, cost=50),
    ]
    entries = compared(rows)
    assert [entry["policy"] for entry in entries] == [
        "(clairvoyant)",
        "(best static)",
        OURS,
        "hpa",
        "drs",
    ]
    assert [entry["score"] and entry["score"]["mean"] for entry in entries] == [
        None,
        None,
        0.8,
        0.6,
        None,
    ]


def test_a_policy_is_described_by_its_non_default_parameters() -> None:
    assert (
        described({"policy": "hpa", "parameters": {"metrics": "cpu 0.5"}})
        == "hpa (metrics=cpu 0.5)"
    )
    assert described({"policy": "drs", "parameters": {}}) == "drs"


def test_a_policy_that_knows_the_burst_law_costs_less_than_the_fixed_size() -> None:
    settings = dataclasses.replace(SETTINGS, minutes=10)
    cell = dataclasses.replace(plain_cell(OURS, "bursts"), settings=settings)
    result = blind(cell)
    assert result["lower"] <= result["between"] <= result["policy"]["cost"]
    job = job_of(spark_parameters(PLANT), limits=settings.limits, slo=settings.slo)
    fixed = best_static(job, curve_of(Constant(rate=LOUD), settings.seconds, 10.0))
    assert fixed is not None
    assert result["policy"]["cost"] < fixed[1].cost


def test_both_plots_of_a_load_name_every_policy_in_their_range(tmp_path: Path) -> None:
    slow = row("drs", 0, attained=False, cost=3000.0, latency_p99_s=900.0)
    entries = compared(
        [
            row(OURS, 0, cost=5000.0, latency_p99_s=19.0),
            slow,
            row("(best static)", 0, cost=9000.0, latency_p99_s=None),
        ]
    )
    full, zoomed = (path.read_text() for path in scatter(tmp_path, "cosine", entries, 4000.0, 30.0))
    assert [(OURS in text, "drs" in text) for text in (full, zoomed)] == [
        (True, True),
        (True, False),
    ]
    assert all("non-anticipative" in text and "best static" in text for text in (full, zoomed))
    assert full == scatter(tmp_path, "cosine", entries, 4000.0, 30.0)[0].read_text()
