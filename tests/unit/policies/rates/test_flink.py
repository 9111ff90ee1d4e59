from dataclasses import replace
from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Decision, Observation, Stage
from rheostat.policies.rates.flink import Flink
from rheostat.policies.registry import create
from rheostat.testing.contracts import follow

QUICK = Flink(
    stabilization_interval_s=0.0,
    metrics_window_s=60.0,
    scale_down_interval_s=0.0,
    catch_up_duration_s=0.0,
)


def observation(
    t_s: float,
    executors: int = 10,
    rate: float = 1e3,
    busy: float = 0.7,
    lag_rows: float | None = 0.0,
    **signals: Any,
) -> Observation:
    usual: dict[str, Any] = {
        "slots_per_executor": 1,
        "input_rows_per_s": rate,
        "processed_rows_per_s": rate,
    }
    return Observation(
        t_s=t_s, executors=executors, busy=busy, lag_rows=lag_rows, **{**usual, **signals}
    )


def last_decision(policy: Flink, *script: Observation) -> Decision:
    return follow(policy, script)[0][-1]


def minute(start_s: float = 0.0, **signals: Any) -> list[Observation]:
    return [observation(start_s + 20.0 * n, **signals) for n in range(4)]


@pytest.mark.parametrize(
    ("busy", "target"),
    [(0.7, 10), (0.41, 10), (0.39, 6), (0.1, 4), (0.99, 10), (1.0, 10)],
)
def test_utilization_within_its_bounds_keeps_the_size(busy, target):
    # The true rate is 1000 / busy. The limits are 1000 (busy 1) and 2500 (busy 0.4); at 0.39 the
    # result is 10 x 0.39 / 0.7 = 5.57.
    assert last_decision(QUICK, *minute(busy=busy)).target == target


def test_a_load_above_the_true_rate_scales_out_by_the_formula():
    # 1000 read and 600 more waiting per minute: 1010 to process at 70 % = 1443; 1000 are possible:
    # 10 x 1.443 = 14.43.
    script = [observation(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4)]
    assert last_decision(QUICK, *script).target == 15


def test_catch_up_and_restart_time_are_included():
    policy = Flink(stabilization_interval_s=0.0, metrics_window_s=60.0)
    # 1010 x 300 / 1800 = 168.33, 600 / 1800 = 0.33, 1010 / 0.7 = 1442.86: 1612
    decision = last_decision(
        policy, *(observation(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4))
    )
    assert (decision.target, decision.evidence["target_capacity"]) == (17, 1612)
    assert decision.evidence["up_below"] == 1010


def test_decisions_wait_twenty_minutes_at_start_and_after_changes():
    script = [observation(60.0 * n, busy=1.0, lag_rows=12_000.0 * n) for n in range(42)]
    script[21:] = [
        observation(60.0 * n, executors=20, busy=1.0, lag_rows=12_000.0 * n) for n in range(21, 42)
    ]
    targets = [decision.target for decision in follow(Flink(), script)[0]]
    assert targets[:20] == [10] * 20
    assert targets[20] > 10
    assert targets[21:41] == [20] * 20
    assert targets[41] > 20


def test_scale_in_uses_the_largest_recommendation_of_an_hour():
    policy = Flink(stabilization_interval_s=0.0, metrics_window_s=60.0, catch_up_duration_s=0.0)
    script = [observation(60.0 * n, busy=0.3 if n == 30 else 0.1) for n in range(63)]
    decisions, _ = follow(policy, script)
    assert {decision.target for decision in decisions[:61]} == {10}
    assert decisions[60].reason == "size kept: 4 slots would do, so far for 3540 of 3600 s"
    assert (
        decisions[61].target == 4
    )  # busy 0.3 for one sample of two: 10 x 0.2 / 0.7 = 2.86, below the factor's floor of 4
    wide = [observation(60.0 * n, busy=0.38 if n in (30, 31) else 0.1) for n in range(93)]
    decisions, _ = follow(policy, wide)
    assert (decisions[91].target, decisions[92].target) == (
        6,
        4,
    )  # 10 x 0.38 / 0.7 = 5.4, for an hour


def test_a_recommendation_of_at_least_the_size_restarts_the_hour():
    policy = Flink(stabilization_interval_s=0.0, metrics_window_s=60.0, catch_up_duration_s=0.0)
    script = [observation(60.0 * n, busy=0.7 if n in (40, 41) else 0.1) for n in range(70)]
    assert {decision.target for decision in follow(policy, script)[0]} == {10}


def test_a_backlog_is_processed_before_a_scale_in():
    # The lag is 400 s; half of the time is idle, which alone would justify a scale-in.
    assert (
        last_decision(QUICK, *minute(busy=0.3, lag_rows=400_000.0)).reason
        == "true rate within its bounds"
    )
    assert last_decision(QUICK, *minute(busy=0.3, lag_rows=200_000.0)).target == 5


def test_the_observed_rate_of_a_lagging_source_replaces_busy_time():
    # Busy 0.5 suggests 2000 rows/s, but it lags by 60 s, reads 1000 rows/s and is not
    # backpressured, so 1000 is its maximum.
    lagging = [
        observation(20.0 * n, busy=0.5, lag_rows=60_000.0 + 200 * n, backpressure_ms_per_s=0.0)
        for n in range(4)
    ]
    assert last_decision(QUICK, *lagging).evidence["true_rate"] == 1000.0
    assert last_decision(QUICK, *lagging).target == 15
    unpressed = [observation(20.0 * n, busy=0.5, lag_rows=60_000.0 + 200 * n) for n in range(4)]
    assert last_decision(QUICK, *unpressed).evidence["true_rate"] == 2000.0


@pytest.mark.parametrize(("enabled", "target"), [(False, 28), (True, 15)])
def test_an_ineffective_scale_out_is_reported_and_optionally_blocked(enabled, target):
    policy = replace(QUICK, effectiveness_detection=enabled)
    before = [observation(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4)]
    after = [
        observation(80.0 + 20.0 * n, executors=15, busy=1.0, lag_rows=2000.0 + 6000.0 * n)
        for n in range(4)
    ]
    decision = last_decision(policy, *before, *after)
    assert decision.evidence["ineffective"] == "the last step out did not help"
    assert decision.target == target  # 10 x 1300 / 0.7 / 1000 x 1.5 = 27.9


def test_sizes_align_with_partitions():
    growing = [
        observation(20.0 * n, busy=1.0, lag_rows=200.0 * n, state_partitions=48) for n in range(4)
    ]
    assert (
        last_decision(QUICK, *growing).target == 16
    )  # with 15 some tasks would still have 4 of 48; with 16 all have 3
    assert last_decision(replace(QUICK, alignment="OFF"), *growing).target == 15
    assert last_decision(replace(QUICK, partitions=20), *growing).target == 20


def test_state_partitions_limit_the_slots_but_source_partitions_do_not():
    keyed = [
        observation(20.0 * n, busy=1.0, lag_rows=200.0 * n, state_partitions=12) for n in range(4)
    ]
    assert last_decision(QUICK, *keyed).target == 12
    assert (
        last_decision(
            replace(QUICK, partitions=12),
            *(observation(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4)),
        ).target
        == 15
    )


@pytest.mark.parametrize(
    ("given", "p", "busy", "target"),
    [
        ({"vertex_min_parallelism": 5}, 10, 0.2, 5),
        ({"vertex_min_parallelism": 5}, 4, 0.2, 4),
        ({"vertex_max_parallelism": 10}, 10, 5.0, 10),
        ({"vertex_max_parallelism": 10}, 12, 5.0, 12),
    ],
)
def test_a_vertex_respects_its_bounds_or_keeps_its_size(given, p, busy, target):
    assert last_decision(replace(QUICK, **given), *minute(executors=p, busy=busy)).target == target


def test_a_constant_load_at_target_utilization_keeps_the_size():
    steady = Flink.about.steady
    script = [replace(steady, t_s=60.0 * n) for n in range(120)]
    assert {decision.target for decision in follow(Flink(), script)[0]} == {steady.size}


def test_the_largest_vertex_sets_the_number_of_executors():
    def staged(t_s: float) -> Observation:
        stages = (
            Stage(name="read", rows_in=1000.0, rows_out=1000.0, busy_s=2.0, pending=0),
            Stage(name="join", upstream=("read",), rows_in=1000.0, rows_out=1.0, busy_s=11.0),
        )
        return Observation(
            t_s=t_s, executors=10, slots_per_executor=1, batch_s=1.0, trigger_s=1.0, stages=stages
        )

    decision = last_decision(QUICK, *(staged(20.0 * n) for n in range(4)))
    assert decision.target == 16  # join: 1000 / 0.7 over 1000 / 1.1
    assert decision.reason == (
        "join must process 1,429 rows/s and can do 909 with 10 slots: 16 slots needed"
    )


def test_a_vertex_that_cannot_change_does_not_rescale_others():
    def staged(t_s: float) -> Observation:
        stages = (
            Stage(
                name="read", rows_in=1000.0, rows_out=1000.0, busy_s=7.5, pending=0
            ),  # it would need 11, but is within its limits
            Stage(
                name="join", upstream=("read",), rows_in=1000.0, rows_out=1.0, busy_s=11.0, tasks=10
            ),  # beyond its limits, at its maximum
        )
        return Observation(
            t_s=t_s, executors=10, slots_per_executor=1, batch_s=1.0, trigger_s=1.0, stages=stages
        )

    decision = last_decision(QUICK, *(staged(20.0 * n) for n in range(4)))
    assert (decision.target, decision.reason, decision.evidence["recommended"]) == (
        10,
        "true rate within its bounds",
        11,
    )


def test_unknown_lag_keeps_the_size():
    decision = last_decision(QUICK, *minute(busy=0.1, lag_rows=None))
    assert (decision.target, decision.reason) == (
        10,
        "size kept: rate, busy share or lag of job is unknown",
    )


def test_an_idle_job_scales_in_by_the_maximum_factor():
    decision = last_decision(QUICK, *minute(rate=0.0, busy=0.0))
    assert (decision.target, decision.evidence["true_rate"]) == (4, None)


def test_slots_are_converted_to_executors():
    growing = [
        observation(20.0 * n, executors=5, slots_per_executor=2, busy=1.0, lag_rows=200.0 * n)
        for n in range(4)
    ]
    assert last_decision(QUICK, *growing).target == 8


@pytest.mark.parametrize(
    "given",
    [
        {"utilization_target": 0.0},
        {"utilization_target": 1.2},
        {"utilization_max": 0.5},
        {"utilization_min": 0.8},
        {"restart_time_s": -1.0},
        {"scale_down_max_factor": 1.5},
        {"vertex_min_parallelism": 300},
        {"alignment": "NONE"},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("flink", given)
