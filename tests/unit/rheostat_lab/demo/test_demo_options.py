from __future__ import annotations

import math
from typing import Any

import pytest

from rheostat.config import GuardOptions
from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.day import Day

NUMBERS = [
    "seconds",
    "low",
    "peak",
    "service_ms",
    "trigger_s",
    "interval_s",
    "cooldown_out_s",
    "cooldown_in_s",
]


def refused(**given: Any) -> str:
    with pytest.raises(BadInput) as error:
        Demo(**given)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_defaults_are_valid():
    assert Demo().in_words().startswith("Nexmark q1, a day in 4 minutes")
    assert "1 to 4 executors of 2 slots" in Demo().in_words()


def test_the_default_peak_depends_on_the_query_and_the_source():
    assert Demo(source="files").load_words == "200 to 1700 events/s"
    assert Demo(source="delta").load_words == "200 to 1300 events/s"
    assert Demo().load_words == "200 to 2600 events/s"
    assert "200 to 2000 events/s" in Demo(query="q11").in_words()
    assert Demo(query="q11", peak=2600.0).load_words == "200 to 2600 events/s"


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", NUMBERS)
def test_negative_and_non_finite_numbers_are_rejected(name, value):
    assert f"{value:g}" in refused(**{name: value})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"service_ms": -1.0}, "service ms must be between 0 and 1000, but it is -1"),
        ({"partitions": 0}, "partitions must be between 1 and 1000, but it is 0"),
        ({"trigger_s": 0.0}, "trigger s must be between 0.1 and 240, but it is 0"),
        ({"interval_s": 0.0}, "interval s must be between 0.1 and 86400, but it is 0"),
        ({"slo": Slo(latency_s=0.05)}, "slo s must be between 0.1 and 86400, but it is 0.05"),
        ({"low": 200.0, "peak": 100.0}, "peak must be a number of at least 200, but it is 100"),
        ({"peak": 0.0}, "peak must be a number of at least 200, but it is 0"),
        ({"seconds": 29.0}, "a day of 29 seconds is too short to see anything; take 30 or more"),
        ({"seed": -1}, "seed must be between 0 and"),
        ({"price_per_slot_hour": -0.05}, "price per slot hour must be between 0 and"),
        ({"price_per_slot_hour": float("nan")}, "price per slot hour must be between 0 and"),
        ({"min_executors": 0}, "min executors must be at least 1, but it is 0"),
        ({"min_executors": 5, "max_executors": 4}, "min executors (5) is above max executors (4)"),
        ({"max_executors": 0}, "min executors (1) is above max executors (0)"),
        ({"cores": 0}, "cores must be between 1 and 16, but it is 0"),
        ({"max_executors": 101}, "max executors must be between 0 and 100, but it is 101"),
        ({"policy": "no-such"}, "unknown policy 'no-such'"),
        ({"parameters": {"speed": "1"}}, "predictive"),
        ({"parameters": {"margin": "wide"}}, "margin"),
        ({"query": "q7"}, "there is no query 'q7'; there are q1, q2, q3, q5, q8, q11"),
        ({"guards": GuardOptions(budget=-1.0)}, "budget"),
    ],
)
def test_values_out_of_range_are_rejected_with_their_value(given, message):
    assert message in refused(**given)


@pytest.mark.parametrize("policy", ["predictive", "measured-throughput", "hpa"])
def test_no_policy_is_tuned_for_the_demo(policy: str) -> None:
    assert Demo(policy=policy).policy_parameters == {}


def test_a_policy_with_several_days_gets_the_length_of_a_day() -> None:
    assert Demo(policy="predictive", days=2, seconds=300).policy_parameters == {"period_s": 300}
    assert Demo(policy="predictive").policy_parameters == {}


def test_given_parameters_are_passed_to_the_policy_and_described() -> None:
    demo = Demo(policy="varga-v2", parameters={"cooldown_s": "10"})
    assert demo.policy_parameters == {"cooldown_s": "10"}
    assert "policy varga-v2 cooldown_s=10, 1 to 4 executors" in demo.in_words()


def test_the_load_is_the_default_day_or_the_given_text() -> None:
    assert Demo(seed=5).load == Day(low=200, peak=2600, day_s=240, ramp_share=0.16, seed=5)
    other = Demo(seed=5, workload="cosine:shift=900,seed=3")
    assert other.load == Cosine(shift=900, seed=8)
    assert "cosine:shift=900" in other.in_words()
    assert "unknown workload 'noon'" in refused(workload="noon")
