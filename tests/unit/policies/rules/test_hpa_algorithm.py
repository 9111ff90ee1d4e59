"""Scaling policies, period by period, as in Kubernetes' horizontal controller."""

import pytest

from rheostat.model import Memory, Observation
from rheostat.policies.rules.hpa_algorithm import (
    UNSET,
    Autoscaler,
    Reading,
    Rules,
    ScalingPolicy,
    parse_policies,
)


def sizes(
    up: str,
    down: str,
    ratio: float,
    size: int,
    *,
    select: str = "Max",
    step_s: float = 15.0,
    count: int = 5,
) -> list[int]:
    rules = Rules(0.0, parse_policies(up), select), Rules(0.0, parse_policies(down), select)
    memory: Memory = {}
    targets = []
    for n in range(count):
        observation = Observation(t_s=step_s * n, executors=size)
        decision, memory = Autoscaler(*rules).decide(
            {"m": Reading(ratio, 1.0)}, observation, memory
        )
        size = decision.target
        targets.append(size)
    return targets


@pytest.mark.parametrize(
    ("up", "select", "expected"),
    [
        ("Pods 4 60", "Max", [14, 14, 14, 14, 18]),
        ("Percent 10 60", "Max", [11, 11, 11, 11, 13]),  # 12.1 is rounded up
        ("Percent 100 15", "Max", [20, 40, 80, 160, 320]),
        ("Percent 10 60, Pods 4 60", "Max", [14, 14, 14, 14, 18]),
        ("Percent 10 60, Pods 4 60", "Min", [11, 11, 11, 11, 13]),
        ("Pods 4 60", "Disabled", [10, 10, 10, 10, 10]),
        ("", "Max", [10, 10, 10, 10, 10]),
    ],
)
def test_scale_out_policies_apply_per_period(up, select, expected):
    assert sizes(up, "Percent 100 15", 100.0, 10, select=select) == expected


@pytest.mark.parametrize(
    ("down", "select", "expected"),
    [
        ("Pods 4 60", "Max", [76, 76, 76, 76, 72]),
        (
            "Percent 10 60",
            "Max",
            [72, 72, 72, 72, 64],
        ),  # the documentation's example: 7.2 is rounded up to 8
        ("Percent 10 60, Pods 4 60", "Max", [72, 72, 72, 72, 64]),
        ("Percent 10 60, Pods 4 60", "Min", [76, 76, 76, 76, 72]),
        ("Percent 100 15", "Max", [1, 1, 1, 1, 1]),
        ("Pods 4 60", "Disabled", [80, 80, 80, 80, 80]),
    ],
)
def test_scale_in_policies_apply_per_period(down, select, expected):
    assert sizes("Pods 4 15", down, 0.0, 80, select=select) == expected


def test_executors_removed_in_the_period_can_be_added_again():
    policy = parse_policies("Pods 2 60")
    assert Rules(0.0, policy, "Max").limit(6, [(0.0, -4)], 15.0, 1) == 12
    assert Rules(0.0, policy, "Max").limit(6, [(0.0, 4)], 15.0, 1) == 6
    assert Rules(0.0, policy, "Max").limit(6, [(0.0, 4)], 60.0, 1) == 8


@pytest.mark.parametrize(
    ("ratio", "current", "ready", "expected"),
    [
        (2.0, 3, 3, 6),
        (1.1, 10, 10, 10),
        (1.2, 10, 9, 10),
        (1.3, 10, 9, 12),
        (0.5, 10, 8, 4),
        (-0.5, 4, 4, -2),
        (0.0, 4, 4, 0),
    ],
)
def test_pending_executors_count_as_idle(ratio, current, ready, expected):
    assert Reading(ratio, 1.0).proposal(current, ready, 0.1, 0.1) == expected


@pytest.mark.parametrize(
    ("cpu", "target", "current", "expected"),
    [
        (0.775, 0.7, 10, 10),  # 77 % of 70 % is 1.1, at the tolerance; 77.5 % would be beyond it
        (0.78, 0.7, 10, 12),
        (0.509, 0.3, 3, 5),  # 50 / 30 x 3 is 5, not 5.09, whose ceiling would be 6
        (0.299, 0.7, 7, 3),  # 29 / 70 x 7 = 2.9
        (0.29, 0.29, 4, 4),  # 0.29 x 100 is 28.999...: it counts as 29 per cent
        (0.9, 0.3, 1, 3),  # 3 in whole per cents, although 0.9 / 0.3 is slightly more
    ],
)
def test_resource_metrics_are_compared_in_integer_percent(cpu, target, current, expected):
    assert Reading(cpu, target, steps=100).proposal(current, current, 0.1, 0.1) == expected


def test_pending_executors_count_as_idle_in_integer_percent():
    # 5 of 6 at 91 %: 75.8 % of all counts as 75 %; 75 / 50 x 6 = 9, while 75.8 / 50 x 6 gives 10.
    assert Reading(0.91, 0.5, steps=100).proposal(6, 5, 0.1, 0.1) == 9
    assert Reading(0.91, 0.5).proposal(6, 5, 0.1, 0.1) == 10


def test_other_metrics_are_compared_in_thousandths():
    assert Reading(1.1004, 1.0).proposal(10, 10, 0.1, 0.1) == 10
    assert Reading(1.101, 1.0).proposal(10, 10, 0.1, 0.1) == 12


@pytest.mark.parametrize(
    ("total", "expected"),
    [(4000.0, 4), (4400.0, 4), (4401.0, 5), (8000.0, 8), (3000.0, 3), (12_345.0, 13)],
)
def test_a_total_is_divided_by_the_target_only(total, expected):
    assert Reading(total, 1000.0, is_total=True).proposal(4, 3, 0.1, 0.1) == expected


def test_rounding_matches_kubernetes_floating_point():
    """Go's double arithmetic: 50 x 1.1 is 55.00000000000001, 20 x (1 - 0.8) slightly less than 4,
    62 / 30 x 15 is 31.000000000000004."""

    def limit(text: str, size: int, sign: int) -> int:
        return Rules(0.0, parse_policies(text), "Max").limit(size, [], 0.0, sign)

    assert [limit("Percent 10 60", size, 1) for size in (10, 50)] == [11, 56]
    assert [limit("Percent 80 60", size, -1) for size in (40, 20)] == [7, 3]
    assert Reading(0.62, 0.3, steps=100).proposal(15, 15, 0.1, 0.1) == 32


@pytest.mark.parametrize(("size", "limit"), [(1, 4), (2, 4), (3, 6), (4, 8), (16, 32)])
def test_without_behavior_a_decision_doubles_or_adds_four(size, limit):
    rules = Rules(0.0, (), UNSET)
    assert (rules.limit(size, [], 0.0, 1), rules.limit(size, [], 0.0, -1)) == (limit, 0)


def test_a_non_finite_value_is_ignored():
    for value in (float("nan"), float("inf"), 1e308):
        decision, _ = Autoscaler(Rules(0.0, (), UNSET), Rules(0.0, (), UNSET)).decide(
            {"m": Reading(value, 1.0)}, Observation(t_s=0.0, executors=4), {}
        )
        assert (decision.target, decision.evidence["m"]) == (4, None)


def test_policies_parse_with_kubernetes_names():
    assert parse_policies("percent 100 15,  Pods 4 30") == (
        ScalingPolicy("Percent", 100, 15),
        ScalingPolicy("Pods", 4, 30),
    )


def test_external_changes_count_toward_the_limit():
    rules = (
        Rules(0.0, parse_policies("Pods 4 60"), "Max"),
        Rules(0.0, parse_policies("Pods 4 60"), "Max"),
    )
    _, memory = Autoscaler(*rules).decide(
        {"m": Reading(1.0, 1.0)}, Observation(t_s=0.0, executors=10), {}
    )
    decision, _ = Autoscaler(*rules).decide(
        {"m": Reading(9.0, 1.0)}, Observation(t_s=15.0, executors=13), memory
    )
    assert decision.target == 14
    assert "14 by the scaling policies" in decision.reason
