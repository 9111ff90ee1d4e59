import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.journal.events import rescalings
from rheostat.model import Decision, GuardChange, Limits, Observation, Record, Rescaling, Slo
from rheostat_lab.report.finished_run import CommittedBatch, ExecutorLife, Overhead, Ramp, Run
from rheostat_lab.report.sizes_over_time import paid, registered
from rheostat_lab.report.summary import Latency, lag_recovery_s, latency, summarize, to_json

STEADY = [(float(t), 100.0 * t) for t in range(101)]


def run_of(**given_: object) -> Run:
    plain = Run(
        title="t",
        query="q1",
        policy="p",
        slo=Slo(latency_s=2.0),
        limits=Limits(),
        trigger_s=1.0,
        interval_s=3.0,
        service_ms=0.0,
        start_s=0.0,
        end_s=100.0,
        records=(),
        curve=STEADY,
        batches=(),
        executors=(ExecutorLife("0", None, 0.0, None),),
    )
    return replace(plain, **given_)  # type: ignore[arg-type]


def batch(first_s: float, end_s: float, commit_s: float) -> CommittedBatch:
    return CommittedBatch(
        int(first_s * 100), int(end_s * 100), end_s, commit_s, int((end_s - first_s) * 100)
    )


def record(
    t_s: float,
    size: int,
    target: int | None,
    phase: str = "growing",
    guards: tuple[GuardChange, ...] = (),
) -> Record:
    observation = Observation(t_s=t_s, executors=size, target=size)
    raw = Decision(target=target or size, reason="the policy's reason", evidence={"rate": 1.0})
    return Record(
        t_s=t_s,
        observation=observation,
        queries=(),
        raw=raw,
        guards=guards,
        target=target,
        actions=(),
        rescaling=Rescaling(phase=phase),
    )


def test_latency_is_measured_from_append_to_commit_per_row() -> None:
    took = latency(run_of(batches=[batch(0, 1, 2), batch(1, 2, 3)]))
    assert took.mean_s == pytest.approx(1.5)
    assert took.p99_s == pytest.approx(1.99, abs=0.01)
    assert took.share_within_slo == 1.0


def test_rows_that_arrive_in_the_warm_up_are_excluded() -> None:
    slow_start = [batch(0, 10, 60), batch(10, 11, 60.5)]
    assert latency(run_of(batches=slow_start, warm_up_s=10.0)).mean_s == pytest.approx(50.0)
    assert latency(run_of(batches=slow_start, warm_up_s=11.0)) == Latency()


def test_an_executor_costs_from_its_request_to_the_end_of_its_process() -> None:
    run = run_of(
        executors=[ExecutorLife("0", -5.0, -3.0, None), ExecutorLife("1", 10.0, 14.0, 40.0)]
    )
    assert paid(run).integral_s == 100 + 30
    assert registered(run).integral_s == 100 + 26


@given(st.lists(st.tuples(st.floats(-20, 120), st.floats(0, 9), st.floats(0, 90)), max_size=6))
def test_paid_time_lies_between_registered_time_and_the_constant_maximum(
    spans: list[tuple[float, float, float]],
) -> None:
    run = run_of(
        executors=[ExecutorLife(str(i), a, a + b, a + b + c) for i, (a, b, c) in enumerate(spans)]
    )
    assert registered(run).integral_s <= paid(run).integral_s + 1e-6
    assert paid(run).integral_s <= max(paid(run).counts) * 100 + 1e-6


def test_the_fixed_mean_is_rounded_up() -> None:
    run = run_of(executors=[ExecutorLife("0", None, 0.0, None), ExecutorLife("1", None, 0.0, 30.0)])
    most, mean = summarize(run, measured={2: Latency(0.5, 0.9)}).baselines
    assert (most.executors, most.latency_p99_s) == (2, 0.9)
    assert most.slot_hours == pytest.approx(200 / 3600)
    assert (mean.executors, mean.latency_p99_s) == (math.ceil(1.3), 0.9)


def test_lag_recovers_at_the_third_consecutive_good_commit() -> None:
    left_s = {9: 0.5, 11: 0.5, 12: 1.0, 13: 1.1, 14: 0.9, 15: 0.5, 16: 0.5}
    run = run_of(
        ramp=Ramp(5.0, 10.0),
        batches=[
            batch(commit_s - 3, commit_s - left, commit_s) for commit_s, left in left_s.items()
        ],
    )
    assert lag_recovery_s(run) == 6.0


def test_lag_that_never_recovers_has_no_recovery_time() -> None:
    behind = [batch(t - 3, t - 2, t) for t in range(11, 30)]
    assert lag_recovery_s(run_of(ramp=Ramp(5.0, 10.0), batches=behind)) is None
    assert lag_recovery_s(run_of(batches=behind)) is None


def test_a_rescale_is_an_executed_target_change_with_its_reason() -> None:
    held = GuardChange(
        guard="bounds", before=9, after=4, reason="the policy's reason; max executors is 4"
    )
    records = [
        record(0, 1, 1),
        record(3, 1, 3),
        record(6, 3, 3),
        record(9, 3, 4, guards=(held,)),
        record(12, 4, None, "idle"),
        record(15, 4, 2),
    ]
    changes = [(change.before, change.after, change.reason) for change in rescalings(records)]
    assert changes == [
        (1, 3, "wanted 3: the policy's reason"),
        (3, 4, "wanted 4: the policy's reason; allowed 4 (bounds: max executors is 4)"),
        (4, 2, "wanted 2: the policy's reason"),
    ]


def test_a_change_in_the_first_tick_counts() -> None:
    assert len(rescalings([record(0, 1, 3)])) == 1


def test_advice_does_not_count_as_a_rescale() -> None:
    assert rescalings([record(0, 1, 3, "advised"), record(3, 1, 4, "idle")]) == []


def test_the_overhead_is_cpu_seconds_per_second_of_one_core() -> None:
    assert summarize(
        run_of(overhead=Overhead({"loop": 0.5, "REST": 0.3}, 80.0))
    ).overhead_core_share == pytest.approx(0.01)


def test_an_unverified_run_is_not_exact() -> None:
    assert summarize(run_of()).exact is False


def test_the_json_summary_contains_the_documented_keys(day_run: Run) -> None:
    written = to_json(summarize(day_run))
    promised = (
        "exact rows_in rows_out executors_min executors_max executors_mean rescalings failed_tasks"
        " failed_batches latency_p99_s"
    )
    assert {
        *promised.split(),
        "lag_recovery_s",
        "overhead_core_share",
        "baselines",
        "slot_hours",
        "share_within_slo",
    } <= written.keys()
    assert [sorted(one) for one in written["baselines"]] == [
        ["executors", "latency_mean_s", "latency_p99_s", "name", "slot_hours"]
    ] * 2
