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


def seen(
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


def last(policy: Flink, *script: Observation) -> Decision:
    return follow(policy, script)[0][-1]


def minute(start_s: float = 0.0, **signals: Any) -> list[Observation]:
    return [seen(start_s + 20.0 * n, **signals) for n in range(4)]


@pytest.mark.parametrize(
    ("busy", "target"),
    [(0.7, 10), (0.41, 10), (0.39, 6), (0.1, 4), (0.99, 10), (1.0, 10)],
)
def test_within_the_bounds_of_utilization_nothing_changes(busy, target):
    # The true rate is 1000 / busy. The limits are 1000 (busy 1) and 2500 (busy 0.4); at 0.39 the
    # result is 10 x 0.39 / 0.7 = 5.57.
    assert last(QUICK, *minute(busy=busy)).target == target


def test_a_load_that_grows_beyond_the_rate_scales_out_by_the_formula():
    # 1000 read and 600 more waiting per minute: 1010 to process at 70 % = 1443; 1000 are possible:
    # 10 x 1.443 = 14.43.
    script = [seen(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4)]
    assert last(QUICK, *script).target == 15


def test_catching_up_and_the_restart_are_paid_for():
    policy = Flink(stabilization_interval_s=0.0, metrics_window_s=60.0)
    # 1010 x 300 / 1800 = 168.33, 600 / 1800 = 0.33, 1010 / 0.7 = 1442.86: 1612
    decision = last(policy, *(seen(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4)))
    assert (decision.target, decision.evidence["target_capacity"]) == (17, 1612)
    assert decision.evidence["up_below"] == 1010


def test_twenty_minutes_pass_before_the_first_decision_and_after_every_change():
    script = [seen(60.0 * n, busy=1.0, lag_rows=12_000.0 * n) for n in range(42)]
    script[21:] = [
        seen(60.0 * n, executors=20, busy=1.0, lag_rows=12_000.0 * n) for n in range(21, 42)
    ]
    targets = [decision.target for decision in follow(Flink(), script)[0]]
    assert targets[:20] == [10] * 20
    assert targets[20] > 10
    assert targets[21:41] == [20] * 20
    assert targets[41] > 20


def test_scaling_in_waits_for_an_hour_and_takes_the_largest_recommendation_of_it():
    policy = Flink(stabilization_interval_s=0.0, metrics_window_s=60.0, catch_up_duration_s=0.0)
    script = [seen(60.0 * n, busy=0.3 if n == 30 else 0.1) for n in range(63)]
    decisions, _ = follow(policy, script)
    assert {decision.target for decision in decisions[:61]} == {10}
    assert decisions[60].reason == "size kept: 4 slots would do, so far for 3540 of 3600 s"
    assert (
        decisions[61].target == 4
    )  # busy 0.3 for one sample of two: 10 x 0.2 / 0.7 = 2.86, below the factor's floor of 4
    wide = [seen(60.0 * n, busy=0.38 if n in (30, 31) else 0.1) for n in range(93)]
    decisions, _ = follow(policy, wide)
    assert (decisions[91].target, decisions[92].target) == (
        6,
        4,
    )  # 10 x 0.38 / 0.7 = 5.4, for an hour


def test_a_recommendation_of_as_many_or_more_starts_the_hour_anew():
    policy = Flink(stabilization_interval_s=0.0, metrics_window_s=60.0, catch_up_duration_s=0.0)
    script = [seen(60.0 * n, busy=0.7 if n in (40, 41) else 0.1) for n in range(70)]
    assert {decision.target for decision in follow(policy, script)[0]} == {10}


def test_a_backlog_is_worked_off_before_anything_goes():
    # The lag is 400 s; half of the time is idle, which alone would justify a scale-in.
    assert (
        last(QUICK, *minute(busy=0.3, lag_rows=400_000.0)).reason == "true rate within its bounds"
    )
    assert last(QUICK, *minute(busy=0.3, lag_rows=200_000.0)).target == 5


def test_the_observed_rate_of_a_source_that_lags_replaces_flattering_busy_time():
    # Busy 0.5 suggests 2000 rows/s, but it lags by 60 s, reads 1000 rows/s and is not
    # backpressured, so 1000 is its maximum.
    lagging = [
        seen(20.0 * n, busy=0.5, lag_rows=60_000.0 + 200 * n, backpressure_ms_per_s=0.0)
        for n in range(4)
    ]
    assert last(QUICK, *lagging).evidence["true_rate"] == 1000.0
    assert last(QUICK, *lagging).target == 15
    unpressed = [seen(20.0 * n, busy=0.5, lag_rows=60_000.0 + 200 * n) for n in range(4)]
    assert last(QUICK, *unpressed).evidence["true_rate"] == 2000.0


@pytest.mark.parametrize(("enabled", "target"), [(False, 28), (True, 15)])
def test_a_step_out_that_did_not_help_is_told_and_on_request_not_repeated(enabled, target):
    policy = replace(QUICK, effectiveness_detection=enabled)
    before = [seen(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4)]
    after = [
        seen(80.0 + 20.0 * n, executors=15, busy=1.0, lag_rows=2000.0 + 6000.0 * n)
        for n in range(4)
    ]
    decision = last(policy, *before, *after)
    assert decision.evidence["ineffective"] == "the last step out did not help"
    assert decision.target == target  # 10 x 1300 / 0.7 / 1000 x 1.5 = 27.9


def test_partitions_are_aligned_with():
    growing = [seen(20.0 * n, busy=1.0, lag_rows=200.0 * n, state_partitions=48) for n in range(4)]
    assert (
        last(QUICK, *growing).target == 16
    )  # with 15 some tasks would still have 4 of 48; with 16 all have 3
    assert last(replace(QUICK, alignment="OFF"), *growing).target == 15
    assert last(replace(QUICK, partitions=20), *growing).target == 20


def test_more_slots_than_state_partitions_are_never_asked_for_and_more_than_source_partitions_are():
    keyed = [seen(20.0 * n, busy=1.0, lag_rows=200.0 * n, state_partitions=12) for n in range(4)]
    assert last(QUICK, *keyed).target == 12
    assert (
        last(
            replace(QUICK, partitions=12),
            *(seen(20.0 * n, busy=1.0, lag_rows=200.0 * n) for n in range(4)),
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
def test_a_vertex_keeps_to_its_bounds_or_where_it_is_beyond_them_to_its_size(
    given, p, busy, target
):
    assert last(replace(QUICK, **given), *minute(executors=p, busy=busy)).target == target


def test_a_constant_load_at_the_target_utilization_changes_nothing_for_two_hours():
    steady = Flink.about.steady
    script = [replace(steady, t_s=60.0 * n) for n in range(120)]
    assert {decision.target for decision in follow(Flink(), script)[0]} == {steady.size}


def test_the_largest_vertex_decides_for_all_executors():
    def staged(t_s: float) -> Observation:
        stages = (
            Stage(name="read", rows_in=1000.0, rows_out=1000.0, busy_s=2.0, pending=0),
            Stage(name="join", upstream=("read",), rows_in=1000.0, rows_out=1.0, busy_s=11.0),
        )
        return Observation(
            t_s=t_s, executors=10, slots_per_executor=1, batch_s=1.0, trigger_s=1.0, stages=stages
        )

    decision = last(QUICK, *(staged(20.0 * n) for n in range(4)))
    assert decision.target == 16  # join: 1000 / 0.7 over 1000 / 1.1
    assert decision.reason == (
        "join must process 1,429 rows/s and can do 909 with 10 slots: 16 slots needed"
    )


def test_a_vertex_that_cannot_change_is_no_reason_to_change_another():
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

    decision = last(QUICK, *(staged(20.0 * n) for n in range(4)))
    assert (decision.target, decision.reason, decision.evidence["recommended"]) == (
        10,
        "true rate within its bounds",
        11,
    )


def test_absent_lag_keeps_the_size_where_flink_would_shrink():
    decision = last(QUICK, *minute(busy=0.1, lag_rows=None))
    assert (decision.target, decision.reason) == (
        10,
        "size kept: rate, busy share or lag of job is unknown",
    )


def test_idleness_goes_down_by_the_largest_factor_allowed():
    decision = last(QUICK, *minute(rate=0.0, busy=0.0))
    assert (decision.target, decision.evidence["true_rate"]) == (4, None)


def test_slots_are_counted_in_executors():
    growing = [
        seen(20.0 * n, executors=5, slots_per_executor=2, busy=1.0, lag_rows=200.0 * n)
        for n in range(4)
    ]
    assert last(QUICK, *growing).target == 8


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
def test_a_nonsense_parameter_is_refused(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("flink", given)
