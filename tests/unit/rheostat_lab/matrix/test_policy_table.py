"""A comparison of policies: which is cheaper if both meet the SLO, and which runs are missing."""

from __future__ import annotations

import pytest

from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import best_first, sentences, shares, table


def day(policy: str, seed: int, slot_hours: float, attained: bool = True) -> PlayedRun:
    return PlayedRun(
        query="q1",
        load="day",
        policy=policy,
        seed=seed,
        attained=attained,
        share_within_slo=0.995 if attained else 0.9,
        latency_p99_s=5.0 if attained else 20.0,
        latency_mean_s=1.5,
        executors_mean=3.25,
        slot_hours=slot_hours,
        rescalings=6,
        failed_tasks=0,
        exact=True,
    )


OURS = [day("predictive", 7, 0.3), day("predictive", 8, 0.4), day("predictive", 9, 0.2, False)]


def test_slot_hours_are_compared_on_seeds_that_both_attained() -> None:
    theirs = [day("hpa", 7, 0.4), day("hpa", 8, 0.1, False), day("hpa", 9, 0.5)]
    assert shares(OURS, theirs) == pytest.approx([-0.25])


def test_every_row_has_the_mean_minimum_and_maximum_of_a_policy() -> None:
    rows = table([*OURS, day("hpa", 7, 0.4)], ["predictive", "hpa", "drs"])[2:]
    assert rows == [
        "| `predictive` | 2 of 3 | 1.50 s | 3.25 | 6 | 96.33 % (90.00 to 99.50) |"
        " 0.300 (0.200 to 0.400) | - | 10.0 s (5.0 to 20.0) | 0 | 3 of 3 |",
        "| `hpa` | 1 of 1 | 1.50 s | 3.25 | 6 | 99.50 % | 0.400 | -25 %, n 1 | 5.0 s | 0 |"
        " 1 of 1 |",
        "| `drs` | not played | - | - | - | - | - | - | - | - | - |",
    ]


def test_policies_that_attained_most_often_come_first_and_then_the_cheapest() -> None:
    others = [day("hpa", 7, 0.4), day("drs", 7, 0.2), day("drs", 9, 0.1, False), day("pid", 7, 0.3)]
    policies = ["predictive", "hpa", "drs", "pid", "ds2"]
    assert best_first([*OURS, *others], policies) == ["predictive", "pid", "hpa", "drs"]


def test_cheaper_costlier_missed_and_missing_policies_are_listed() -> None:
    others = [day("hpa", 7, 0.4), day("drs", 7, 0.2), day("drs", 9, 0.3), day("pid", 7, 0.1, False)]
    assert sentences([*OURS, *others], ["predictive", "hpa", "drs", "pid", "ds2"]) == [
        "`predictive` attained on 2 of 3 seeds.",
        "Where both attained it took fewer slot-hours than `hpa`: -25 %, n 1.",
        "Attained on no seed: `pid`.",
        "It fell short of: the objective on seed 9; fewer slot-hours than `drs`: +50 %, n 1;"
        " `drs` attained on seed 9, which it missed.",
        "Not played: `ds2`.",
    ]


def test_a_policy_with_equal_cost_is_not_called_cheaper() -> None:
    lines = sentences([day("predictive", 7, 0.3), day("hpa", 7, 0.3)], ["predictive", "hpa"])
    assert lines[1:] == ["It fell short of: fewer slot-hours than `hpa`: +0 %, n 1."]


def test_nothing_is_claimed_before_the_first_policy_has_run() -> None:
    assert sentences([day("hpa", 7, 0.3)], ["predictive", "hpa"]) == [
        "`predictive` is not played yet."
    ]
