"""Scaling policies, period by period, as Kubernetes' horizontal controller has them."""

import pytest

from rheostat.model import Memory, Observation
from rheostat.policies.kubernetes import Autoscaler, Rules, ScalingPolicy, parse_policies, proposal


def sizes(up: str, down: str, ratio: float, size: int, *, select: str = "Max", step_s: float = 15.0, count: int = 5) -> list[int]:
    rules = Rules(0.0, parse_policies(up), select), Rules(0.0, parse_policies(down), select)
    memory: Memory = {}
    found = []
    for n in range(count):
        seen = Observation(t_s=step_s * n, executors=size)
        decision, memory = Autoscaler(*rules).decide({"m": ratio}, seen, memory)
        size = decision.target
        found.append(size)
    return found


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
def test_up_by_policies_of_a_minute(up, select, expected):
    assert sizes(up, "Percent 100 15", 100.0, 10, select=select) == expected


@pytest.mark.parametrize(
    ("down", "select", "expected"),
    [
        ("Pods 4 60", "Max", [76, 76, 76, 76, 72]),
        ("Percent 10 60", "Max", [72, 72, 72, 72, 64]),  # the documentation's example: 7.2 is rounded up to 8
        ("Percent 10 60, Pods 4 60", "Max", [72, 72, 72, 72, 64]),
        ("Percent 10 60, Pods 4 60", "Min", [76, 76, 76, 76, 72]),
        ("Percent 100 15", "Max", [1, 1, 1, 1, 1]),
        ("Pods 4 60", "Disabled", [80, 80, 80, 80, 80]),
    ],
)
def test_down_by_policies_of_a_minute(down, select, expected):
    assert sizes("Pods 4 15", down, 0.0, 80, select=select) == expected


def test_what_was_removed_in_the_period_may_come_back_at_once():
    policy = parse_policies("Pods 2 60")
    assert Rules(0.0, policy, "Max").limit(6, [(0.0, -4)], 15.0, 1) == 12
    assert Rules(0.0, policy, "Max").limit(6, [(0.0, 4)], 15.0, 1) == 6
    assert Rules(0.0, policy, "Max").limit(6, [(0.0, 4)], 60.0, 1) == 8


@pytest.mark.parametrize(
    ("ratio", "current", "ready", "expected"),
    [(2.0, 3, 3, 6), (1.1, 10, 10, 10), (1.2, 10, 9, 10), (1.3, 10, 9, 12), (0.5, 10, 8, 4), (-0.5, 4, 4, -2), (0.0, 4, 4, 0)],
)
def test_a_proposal_counts_executors_on_their_way_as_idle(ratio, current, ready, expected):
    assert proposal(ratio, current, ready, 0.1, 0.1) == expected


def test_policies_are_read_as_kubernetes_names_them():
    assert parse_policies("percent 100 15,  Pods 4 30") == (ScalingPolicy("Percent", 100, 15), ScalingPolicy("Pods", 4, 30))


def test_a_change_that_somebody_else_made_counts_too():
    rules = Rules(0.0, parse_policies("Pods 4 60"), "Max"), Rules(0.0, parse_policies("Pods 4 60"), "Max")
    _, memory = Autoscaler(*rules).decide({"m": 1.0}, Observation(t_s=0.0, executors=10), {})
    decision, _ = Autoscaler(*rules).decide({"m": 9.0}, Observation(t_s=15.0, executors=13), memory)
    assert decision.target == 14
    assert "14 by the scaling policies" in decision.reason
