from dataclasses import replace
from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Decision, ExecutorSample, Observation
from rheostat.policies.forecasts.daedalus import Daedalus
from rheostat.policies.registry import create
from rheostat.testing.contracts import follow

QUICK = Daedalus(first_s=60.0, loop_s=60.0)


def observation(
    t_s: float,
    rate: float = 3000.0,
    executors: int = 4,
    lag_rows: float | None = 0.0,
    **signals: Any,
) -> Observation:
    """Executors that process 1000 rows/s each at full CPU, which is proportional to the load."""
    usual: dict[str, Any] = {
        "processed_rows_per_s": min(rate, 1000.0 * executors),
        "cpu": min(1.0, rate / 1000 / executors),
    }
    return Observation(
        t_s=t_s,
        executors=executors,
        input_rows_per_s=rate,
        lag_rows=lag_rows,
        **{**usual, **signals},
    )


def steady_decision(policy: Daedalus = QUICK, until_s: float = 120.0, **signals: Any) -> Decision:
    return follow(policy, [observation(10.0 * n, **signals) for n in range(int(until_s / 10) + 1)])[
        0
    ][-1]


@pytest.mark.parametrize(
    ("rate", "lag_rows", "target"),
    [
        (3000.0, 0.0, 4),
        (2999.0, 0.0, 4),
        (2100.0, 0.0, 3),
        (900.0, 0.0, 1),
        (3990.0, 0.0, 4),
        (3990.0, 30_000.0, 5),
        (900.0, 5000.0, 4),
    ],
)
def test_the_smallest_size_that_meets_load_and_recovery_time_is_chosen(rate, lag_rows, target):
    # 3990 of 4000 rows/s leave 6000 rows in 10 minutes: a backlog of 30,000 needs a fifth
    # executor, one of 5000 keeps all four. 3 would process 2999 rows/s, but not catch up with the
    # 75,000 rows of the change within 10 minutes.
    assert steady_decision(rate=rate, lag_rows=lag_rows).target == target


def test_the_hottest_executor_limits_the_capacity():
    workers = {
        "1": ExecutorSample(cpu=0.8, rows_per_s=800.0),
        "2": ExecutorSample(cpu=0.4, rows_per_s=400.0),
    }
    script = [
        observation(10.0 * n, rate=1200.0, executors=2, by_executor=workers) for n in range(13)
    ]
    assert follow(QUICK, script)[0][-1].evidence["capacity"] == pytest.approx(
        1600.0
    )  # 1000 and, at 1 - 0.4, 600


def test_capacity_is_extrapolated_from_cpu_and_throughput():
    # 100 rows/s at 0.2, 300 at 0.5 and an intercept below zero: 633 at full CPU
    script = [
        observation(
            10.0 * n,
            cpu=0.2 if n % 2 else 0.5,
            processed_rows_per_s=100.0 if n % 2 else 300.0,
            executors=1,
        )
        for n in range(40)
    ]
    capacity = follow(replace(QUICK, first_s=1e9), script)[1]["capacity"]["1"]
    assert capacity == pytest.approx(633.3, abs=0.5)


def test_a_measured_size_is_not_extrapolated():
    poor = [
        observation(10.0 * n, rate=2400.0, executors=8, cpu=0.9) for n in range(13)
    ]  # eight do 2667, not 8000
    back = [
        observation(
            200.0 + 10.0 * n, rate=3000.0, executors=4, processed_rows_per_s=1800.0, cpu=0.9
        )
        for n in range(70)
    ]
    decisions, memory = follow(QUICK, [*poor, *back])
    assert memory["capacity"]["8"] == pytest.approx(2667.0, abs=1.0)
    assert memory["capacity"]["4"] == pytest.approx(2000.0, abs=1.0)
    changes = [decision.target for decision in decisions if decision.target != 4]
    assert changes[-1] == 7  # 4, 5 and 6 do 2000 to 3000, 7 does 3500: more than is known of 8


def test_a_rising_load_triggers_a_scale_out_in_advance():
    rising = [
        observation(10.0 * n, rate=2000.0 + 10.0 * n) for n in range(13)
    ]  # +1 row/s per second
    assert follow(QUICK, rising)[0][-1].target == 4  # 2120 now, 3020 in 15 minutes
    assert steady_decision(rate=2120.0).target == 3


def test_decisions_wait_for_a_warm_up_and_after_every_change():
    script = [
        *(observation(10.0 * n, rate=6000.0) for n in range(31)),
        *(observation(310.0 + 10.0 * n, rate=9000.0, executors=8) for n in range(40)),
    ]
    decisions = follow(Daedalus(), script)[0]
    assert {decision.target for decision in decisions[:30]} == {4}
    assert decisions[30].target > 6
    assert {decision.target for decision in decisions[31:49]} == {8}
    assert (
        decisions[49].target > 9
    )  # three minutes after the change, since the load is beyond the capacity


def test_a_load_at_capacity_ends_the_pause_after_three_minutes():
    script = [
        *(observation(10.0 * n, executors=8) for n in range(31)),
        *(observation(310.0 + 10.0 * n, rate=4000.0) for n in range(19)),
    ]
    decisions = follow(Daedalus(), script)[0]
    assert decisions[-2].reason == "resting: 170 s since the last change of size"
    assert decisions[-1].evidence["capacity"] == decisions[-1].evidence["load"] == 4000.0
    assert decisions[-1].target > 4


def test_missing_cpu_or_throughput_keeps_the_size():
    assert steady_decision(cpu=None).reason.startswith("size kept")
    assert steady_decision(processed_rows_per_s=None).reason.startswith("size kept")
    assert steady_decision(lag_rows=None).target == 4


@pytest.mark.parametrize(
    "given", [{"loop_s": -1.0}, {"max_executors": 0}, {"recovery_s": 20.0}, {"trend_s": -5.0}]
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("daedalus", given)
