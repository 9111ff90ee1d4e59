"""The runs that the comparison includes."""

from __future__ import annotations

from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.policies.registry import create
from rheostat_lab.comparison.spark_comparison import (
    GRIDS,
    OURS,
    PLANT,
    SETTINGS,
    STREAMING,
    Comparison,
    candidates,
)
from rheostat_lab.sweep.plant_parameters import spark_parameters
from rheostat_lab.sweep.sweep_cell import BOUNDS


def test_every_competing_policy_is_tried_with_several_parameters() -> None:
    assert set(GRIDS) == set(STREAMING) - {OURS}
    assert all(candidates(policy)[0] == {} and len(candidates(policy)) > 4 for policy in GRIDS)
    assert candidates(OURS) == [{}]


@pytest.mark.parametrize("policy", STREAMING)
def test_every_candidate_is_valid_and_unique(policy: str) -> None:
    tried = candidates(policy)
    assert all(create(policy, given, SETTINGS.slo) for given in tried)
    assert len({repr(given) for given in tried}) == len(tried)


def test_the_plant_and_its_settings_match_the_thesis() -> None:
    plant = spark_parameters(PLANT)
    assert plant.placement
    assert plant.state_partitions > 0
    assert (plant.executors, SETTINGS.minutes, SETTINGS.low, SETTINGS.high) == (8, 140, 1, 16)


def test_parameters_are_evaluated_on_different_seeds_than_they_were_chosen_on() -> None:
    comparison = Comparison(policies=("hpa", OURS), seeds=3, trials=2)
    judged, tried = comparison.judged_cells({}), comparison.trial_cells()
    assert {cell.seed for cell in judged} == {0, 1, 2}
    assert {cell.seed for cell in tried} == {3, 4}
    assert {cell.policy for cell in tried} == {"hpa"}


def test_every_load_and_seed_includes_all_policies_and_the_bounds() -> None:
    cells = Comparison(policies=("hpa",), starts_s=(3.0, 60.0), seeds=2).judged_cells(
        {("cosine-start-3", "hpa"): {"metrics": "cpu 0.5"}}
    )
    assert sorted((cell.load, cell.seed, cell.policy) for cell in cells) == sorted(
        (load, seed, policy)
        for load in ("cosine-start-3", "cosine-start-60", "bursts-start-3", "bursts-start-60")
        for seed in (0, 1)
        for policy in (BOUNDS, "hpa", OURS)
    )
    given = {(cell.load, cell.policy): cell.parameters for cell in cells}
    assert given["cosine-start-3", "hpa"] == {"metrics": "cpu 0.5"}
    assert given["cosine-start-60", "hpa"] == given["cosine-start-3", OURS] == {}


def test_a_user_defined_load_is_compared_under_its_name() -> None:
    own = "days=2 * day:day_s=3600 + constant:rate=50"
    cells = Comparison(policies=("hpa",), loads=(own,), seeds=1).judged_cells({})
    assert {cell.load_text for cell in cells} == {"2 * day:day_s=3600 + constant:rate=50"}
    assert {cell.load for cell in cells} == {"days-start-3", "days-start-10", "days-start-60"}
    assert cells[0].workload.rate_per_s(0.0) > 50


def test_every_load_is_run_with_fast_and_slow_executor_starts() -> None:
    cells = Comparison(policies=("hpa",), seeds=1).judged_cells({})
    starts = {cell.load: cell.plant_parameters["start_s"] for cell in cells}
    assert sorted(starts.values()) == [3.0, 3.0, 10.0, 10.0, 60.0, 60.0]
    assert starts["bursts-start-60"] == 60.0
    loads = {cell.load_text for cell in cells if cell.load.startswith("bursts")}
    assert len(loads) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policies": ("clever",)}, "unknown policy 'clever'"),
        ({"loads": ("sea",)}, "there is no load 'sea' to compare on; there are cosine, bursts"),
        ({"loads": ("bursts:quiet=5",)}, "or your own as NAME=TEXT"),
        ({"loads": ("mine=sea:deep=5",)}, "sea"),
        ({"starts_s": (0.0,)}, "more than 0 and at most 600 s to start, but it takes 0"),
        ({"seeds": 0}, "seeds and trials must be at least 1, but they are 0 and 3"),
        ({"trials": 0}, "they are 10 and 0"),
        ({"minutes": 5}, "longer than its warm-up of 5 minutes, but it lasts 5"),
        ({"minutes": float("nan")}, "but it lasts nan"),
    ],
)
def test_invalid_comparisons_are_rejected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Comparison(**given)
