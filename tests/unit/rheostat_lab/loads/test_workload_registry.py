from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.registry import WORKLOADS, create, parameters
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.trace import Trace


def test_the_registry_is_sorted_and_every_parameter_is_documented() -> None:
    assert list(WORKLOADS) == sorted(WORKLOADS)
    for kind in WORKLOADS.values():
        assert parameters(kind)
        assert all(set(field.metadata) == {"help", "unit"} for field in parameters(kind))


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name != "trace"])
def test_every_workload_except_trace_has_defaults_and_a_valid_rate(name: str) -> None:
    load = create(name)
    assert all(load.rate_per_s(t) >= 0 for t in (0, 0.5, 60, 239.99, 240, 3600, 1e6))
    assert max(load.rate_per_s(t) for t in range(3600)) > 0


def test_parameters_are_accepted_as_text() -> None:
    assert create("day", {"low": "10", "peak": "20", "seed": "3"}) == Day(low=10, peak=20, seed=3)
    assert create("steps", {"levels": "1,2.5", "hold_s": 5}) == Steps((1, 2.5), 5)
    assert create("trace", {"times_s": (0, 1), "rates": (5, 6)}) == Trace((0.0, 1.0), (5.0, 6.0))


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("night", {}, "unknown workload 'night'; there are bursts, constant, cosine, day"),
        ("day", {"height": 3}, "workload day has no parameter 'height'; it has low, peak"),
        ("day", {"low": "much"}, "low of workload day must be of type float, but it is 'much'"),
        ("day", {"low": 10, "peak": 5}, "peak must be a number of at least 10, but it is 5"),
        (
            "day",
            {"noise": 2},
            "noise is a share of the rate and must be between 0 and 1, but it is 2",
        ),
        ("constant", {"rate": -1}, "rate must be a number of at least 0, but it is -1"),
        ("constant", {"rate": "nan"}, "rate must be a number of at least 0, but it is nan"),
        ("cosine", {"period_s": 0}, "period_s must be a number above 0, but it is 0"),
        ("ramp", {"ramp_s": 0}, "ramp_s must be a number above 0, but it is 0"),
        (
            "steps",
            {"levels": "1,two"},
            "levels of workload steps must be numbers with commas between, but it is '1,two'",
        ),
        ("steps", {"levels": ()}, "levels must hold at least one rate"),
        ("steps", {"levels": "3,-4"}, r"levels\[1\] must be a number of at least 0, but it is -4"),
        (
            "trace",
            {},
            (
                "a trace needs two samples or more, a rate for each time, but it has 0 times and 0"
                " rates"
            ),
        ),
        (
            "trace",
            {"times_s": (0, 1, 1), "rates": (1, 1, 1)},
            r"the times of a trace must rise, but times_s\[2\] is 1.0 after 1.0",
        ),
        (
            "trace",
            {"times_s": (0, 1), "rates": (1, -1)},
            r"rates\[1\] must be a number of at least 0, but it is -1",
        ),
    ],
)
def test_invalid_parameters_are_rejected_with_their_value(
    name: str, given: dict[str, object], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        create(name, given)
