import itertools
import math
from typing import Any

import pytest
from tests.unit.policies.fluid_job import FluidJob

from rheostat.guards import standard_guards
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import InFlight, Limits, Observation, Record, Slo
from rheostat.policies.rates.measured_throughput import MeasuredThroughput
from rheostat.sim.measures import measures
from rheostat.testing.contracts import follow
from rheostat_lab.comparison.spark_comparison import plain_cell
from rheostat_lab.sweep.runner import play

POLICY = MeasuredThroughput(settle_s=0.0)


def observation(
    t_s: float, executors: int = 2, target: int | None = None, **signals: Any
) -> Observation:
    """Two executors with lag whose last batch processed 1000 rows/s per executor; no two batches
    are equal."""
    usual: dict[str, Any] = {
        "input_rows_per_s": 2500.0,
        "lag_s": 4.0,
        "lag_rows": 10_000.0,
        "batch_s": 2.0 + t_s / 1e4,
        "trigger_s": 1.0,
    }
    usual |= {"processed_rows_per_s": 1000.0 * executors}
    return Observation(
        t_s=t_s, executors=executors, target=target or executors, **{**usual, **signals}
    )


def drive(
    job: FluidJob,
    until_s: float,
    step_s: float = 5.0,
    policy: MeasuredThroughput = POLICY,
    most: int = 10,
) -> list[Record]:
    guards = standard_guards(Limits(max_executors=most))
    loop = Loop(sensor=job, policy=policy, guards=guards, actuator=job, journal=MemoryJournal())
    return [loop.step(n * step_s) for n in range(int(until_s / step_s) + 1)]


def targets(records: list[Record], after_s: float = 0.0) -> list[int]:
    return [record.target or 0 for record in records if record.t_s >= after_s]


def changes(records: list[Record], after_s: float = 0.0) -> int:
    sizes = targets(records, after_s)
    return sum(a != b for a, b in itertools.pairwise(sizes))


def late(records: list[Record], lag_s: float = 10.0) -> float:
    """Return the share of the ticks in which the lag exceeded ``lag_s`` seconds."""
    return sum(
        (record.observation.lag_s or 0.0) > lag_s for record in records if record.observation
    ) / len(records)


def wobble(t: float) -> float:
    """Return a deterministic factor between 0.8 and 1.2 that differs in successive seconds."""
    return 1.0 + 0.2 * math.sin(int(t) * 2.4)


def with_running_batch(
    elapsed_s: float, lag_rows: float, count: int = 3, **signals: Any
) -> list[Observation]:
    """Observations of two executors whose batch has run for ``elapsed_s``; 2500 rows arrive each
    second."""
    running = {"in_flight": InFlight(elapsed_s=elapsed_s), "lag_rows": lag_rows, **signals}
    return [observation(5.0 * n, **running) for n in range(count)]


def test_the_size_covers_the_rate_plus_headroom():
    # The running batch ends now, and 7500 rows have waited for 3 s: 7500 / (10 - 3) is less than
    # 2500 x 1.2 = 3000.
    decision = follow(POLICY, with_running_batch(3.0, 12_000.0))[0][-1]
    assert decision.target == 3
    assert decision.reason == (
        "lag (4.0 s): 3 executors needed for 3,000 rows/s at 1,000 rows/s an executor"
    )
    evidence = {
        "rate": 2500.0,
        "demand": 3000.0,
        "lag_s": 4.0,
        "lag_slope": 0.0,
        "throughput_per_executor": 1000.0,
        "samples": 1,
    }
    assert decision.evidence == evidence


def test_waiting_rows_are_processed_before_they_exceed_the_objective():
    # 15,000 rows have waited for 6 s and have 4 s left: 3750 rows/s x 1.2, at 1000 per executor.
    assert follow(POLICY, with_running_batch(6.0, 20_000.0))[0][-1].target == 5


def test_the_running_batch_ends_before_the_backlog_is_processed():
    # 10,000 of 17,500 rows are running, at 2000 rows/s for 2 s more: 12,500 rows remain for the 5 s
    # that the oldest one has left.
    assert follow(POLICY, with_running_batch(3.0, 17_500.0))[0][-1].target == math.ceil(
        1.2 * 12_500 / 5 / 1000
    )


def test_executors_added_during_a_batch_do_not_end_it_sooner():
    running: dict[str, Any] = {"in_flight": InFlight(elapsed_s=3.0), "lag_rows": 17_500.0}
    known = {
        "executors": 2,
        "changed_s": -60.0,
        "rates": [[-5.0, 2500.0]],
        "throughput": {"2": [[-9.0, 2000.0]]},
    }
    before = POLICY.decide(observation(0.0, 2, target=4, **running), known)[0]
    after = POLICY.decide(observation(0.0, 4, **running), known)[0]
    assert before.evidence["demand"] == after.evidence["demand"]


def test_late_rows_are_processed_within_the_lag_threshold():
    # 50,000 rows have waited for 20 s: 3 s are available for them.
    assert follow(POLICY, with_running_batch(20.0, 50_000.0, count=9, lag_s=20.0))[0][
        -1
    ].target == math.ceil(1.2 * 50_000 / 3 / 1000)


def test_a_jump_between_two_observations_is_extrapolated():
    jump = [
        observation(0.0),
        observation(5.0, lag_s=0.5),
        observation(10.0, lag_s=0.5, input_rows_per_s=4000.0),
    ]
    decision = follow(POLICY, jump)[0][-1]
    assert decision.evidence["rate"] == 4000.0 + 1500.0
    assert decision.target == math.ceil(5500 * 1.2 / 1000)


def test_rising_lag_adds_one_executor_to_a_satisfied_equation():
    rising = [
        observation(5.0 * n, input_rows_per_s=500.0, lag_rows=1000.0 + 100 * n) for n in range(4)
    ]
    assert follow(POLICY, rising)[0][-1].target == 3


def test_falling_lag_keeps_the_size():
    falling = [
        observation(5.0 * n, input_rows_per_s=500.0, lag_rows=5000.0 - 100 * n) for n in range(4)
    ]
    assert follow(POLICY, falling)[0][-1].target == 2


def test_pending_executors_defer_further_scale_out():
    rising = [
        observation(5.0 * n, target=4, input_rows_per_s=500.0, lag_rows=1000.0 + 100 * n)
        for n in range(4)
    ]
    assert follow(POLICY, rising)[0][-1].target == 4


def test_scale_in_uses_the_highest_rate_of_the_last_half_minute():
    calm = [
        observation(
            5.0 * n, 6, lag_s=0.5, lag_rows=100.0, input_rows_per_s=4000.0 if n == 2 else 100.0
        )
        for n in range(10)
    ]
    decisions, _ = follow(POLICY, [observation(-5.0, 6), *calm])
    assert [decision.target for decision in decisions[3:]] == [5, 5, 5, 5, 5, 5, 5, 1]


def test_an_insufficient_size_scales_out_before_lag_builds_up():
    calm, higher = (
        observation(0.0, lag_s=0.5, input_rows_per_s=1500.0, batch_s=0.8),
        observation(5.0, lag_s=0.5, input_rows_per_s=2500.0, batch_s=0.9),
    )
    decisions, _ = follow(POLICY, [calm, calm, higher])
    assert [decision.target for decision in decisions[1:]] == [2, math.ceil(3500 * 1.2 / 1000)]
    assert decisions[-1].reason.startswith("lag is coming")


def test_a_sufficient_size_does_not_scale_out_without_lag():
    calm: dict[str, Any] = {"lag_s": 0.5, "lag_rows": 900.0, "batch_s": None}
    assert (
        follow(
            POLICY,
            [
                observation(5.0 * n, input_rows_per_s=1700.0 + n % 3 * 100, **calm)
                for n in range(30)
            ],
        )[0][-1].target
        == 2
    )


def test_a_short_batch_at_most_doubles_the_size():
    """Ten rows in 0.3 s do not prove that an executor can process 33 rows per second."""
    short: dict[str, Any] = {
        "lag_s": 0.5,
        "lag_rows": 5.0,
        "batch_s": 0.3,
        "processed_rows_per_s": 66.0,
    }
    idle = [
        observation(5.0 * n, input_rows_per_s=10.0, batch_rows=10 + n, **short) for n in range(4)
    ]
    assert (
        follow(POLICY, [*idle, observation(20.0, input_rows_per_s=900.0, batch_rows=14, **short)])[
            0
        ][-1].target
        == 4
    )


def test_short_back_to_back_batches_without_lag_show_no_limit():
    calm: dict[str, Any] = {"lag_s": 0.5, "lag_rows": 900.0, "trigger_s": 0.0, "batch_s": 4.0}
    script = [
        observation(5.0 * n, input_rows_per_s=2000.0 + 500.0 * (n == 5), batch_rows=n, **calm)
        for n in range(6)
    ]
    assert follow(POLICY, script)[0][-1].target == 2


@pytest.mark.parametrize("seed", [50, 51, 52])
@pytest.mark.parametrize("load", ["cosine", "bursts"])
def test_the_objective_is_met_for_cosine_and_bursts(load, seed):
    result = measures(
        play(plain_cell("measured-throughput", load, seed=seed)).ledger,
        Slo(latency_s=30.0),
        warm_up_s=300.0,
    )
    assert result.attained


@pytest.mark.parametrize("absent", ["lag_s", "input_rows_per_s"])
def test_a_missing_signal_never_scales_in(absent):
    decisions, _ = follow(
        POLICY,
        [observation(0.0, 6), *(observation(5.0 * n, 6, **{absent: None}) for n in range(1, 20))],
    )
    assert {decision.target for decision in decisions} == {6}


def test_no_arrivals_need_one_executor_without_measurements():
    idle = Observation(
        t_s=0.0, executors=8, target=8, input_rows_per_s=0.0, lag_s=0.0, lag_rows=0.0
    )
    assert POLICY.decide(idle, {})[0].target == 1


def test_unknown_throughput_keeps_the_size_or_adds_one_with_lag():
    blind: dict[str, Any] = {"processed_rows_per_s": None, "batch_s": None}
    assert (
        follow(POLICY, [observation(5.0 * n, lag_s=0.5, **blind) for n in range(4)])[0][-1].target
        == 2
    )
    assert (
        follow(POLICY, [observation(5.0 * n, lag_rows=100.0 * n, **blind) for n in range(4)])[0][
            -1
        ].target
        == 3
    )


def test_a_lag_of_two_triggers_counts_as_no_lag():
    minute: dict[str, Any] = {"trigger_s": 60.0, "lag_s": 110.0, "input_rows_per_s": 500.0}
    assert (
        follow(POLICY, [observation(5.0 * n, lag_rows=1000.0 * n, **minute) for n in range(4)])[0][
            -1
        ].target
        == 1
    )


def test_lag_rises_only_if_it_grows_in_rows():
    """When arrivals stop, the wait by Little's law jumps up although the queue shrinks."""
    ebb = [
        observation(
            5.0 * n,
            input_rows_per_s=1000.0 / (n + 1),
            lag_s=4.0 + 10 * n,
            lag_rows=9000.0 - 1000 * n,
        )
        for n in range(6)
    ]
    assert follow(POLICY, ebb)[0][-1].target == 2


def learned_throughput(*script: Observation) -> dict[str, list[float]]:
    memory = follow(POLICY, script)[1]
    return {size: [rate for _, rate in samples] for size, samples in memory["throughput"].items()}


def test_a_batch_under_lag_is_recorded_once():
    one = observation(5.0)
    assert learned_throughput(observation(0.0), one, one, one) == {"2": [2000.0]}


def test_batches_of_cold_executors_are_ignored():
    policy = MeasuredThroughput(settle_s=10.0)
    _, memory = follow(
        policy, [observation(5.0 * n, processed_rows_per_s=100.0 * (n + 1)) for n in range(5)]
    )
    assert [rate for _, rate in memory["throughput"]["2"]] == [400.0, 500.0]


def test_throughput_is_not_learned_without_lag():
    assert learned_throughput(*(observation(5.0 * n, lag_s=0.5) for n in range(5))) == {}


def test_a_batch_that_began_before_the_rescale_is_ignored():
    grown = [
        observation(10.0, 4, batch_s=3.0),
        observation(12.0, 4, batch_s=3.0),
        observation(15.0, 4, batch_s=5.5),
        observation(20.0, 4, batch_s=4.5),
    ]
    assert learned_throughput(observation(0.0, 2), observation(5.0, 2), *grown) == {
        "2": [2000.0],
        "4": [4000.0],
    }


def test_the_elapsed_time_of_a_running_batch_is_not_a_batch_time():
    assert (
        learned_throughput(
            observation(0.0), observation(5.0, batch_s=4.0, in_flight=InFlight(elapsed_s=2.0))
        )
        == {}
    )


def test_the_configured_number_of_samples_is_kept():
    policy = MeasuredThroughput(samples=3)
    _, memory = follow(
        policy, [observation(5.0 * n, processed_rows_per_s=1000.0 + n) for n in range(9)]
    )
    assert [rate for _, rate in memory["throughput"]["2"]] == [1006.0, 1007.0, 1008.0]


def test_old_samples_are_dropped_only_when_new_ones_arrive():
    old, quiet = (
        [observation(5.0 * n, 4) for n in range(4)],
        [observation(3600.0 + 5 * n, 4, lag_s=0.5) for n in range(4)],
    )
    assert set(learned_throughput(*old, *quiet)) == {"4"}
    assert set(
        learned_throughput(*old, *quiet, observation(7200.0, 2), observation(7205.0, 2))
    ) == {"2"}


def test_the_nearest_measured_size_is_used():
    measured = {"throughput": {"1": [[0.0, 900.0]], "8": [[0.0, 4000.0]]}}
    assert (
        POLICY.decide(observation(9.0, 2, processed_rows_per_s=None), measured)[0].evidence[
            "throughput_per_executor"
        ]
        == 900.0
    )
    assert (
        POLICY.decide(observation(9.0, 6, processed_rows_per_s=None), measured)[0].evidence[
            "throughput_per_executor"
        ]
        == 500.0
    )


def test_a_ramp_is_absorbed_within_a_minute():
    job = FluidJob(lambda t: wobble(t) * (500 + 5000 * min(max(t - 300, 0) / 60, 1)), 1200.0)
    records = drive(job, 900)
    assert targets(records)[59] == 1
    assert targets(records)[-1] in (6, 7)
    assert job.worst_lag_s < 15
    assert all(
        (record.observation.lag_s or 0) < 3
        for record in records
        if record.t_s > 420 and record.observation
    )


def test_a_quiet_hour_scales_in_without_flapping():
    records = drive(
        FluidJob(lambda t: 400 * wobble(t) if t > 600 else 4000 * wobble(t), executors=6), 4200
    )
    assert targets(records)[-1] == 1
    assert changes(records, after_s=700) <= 2


def test_a_day_meets_the_objective_with_few_rescales():
    job = FluidJob(
        lambda t: wobble(t) * (3000 - 2500 * math.cos(2 * math.pi * t / 86_400)),
        fixed_s=0.2,
        trigger_s=2.0,
    )
    records = drive(job, 86_400, step_s=20.0)
    assert late(records) < 0.01
    assert changes(records) <= 40
    assert job.executor_s / 86_400 < 5
    assert job.arrived == pytest.approx(job.committed + job.lag_rows)


def test_a_steady_noisy_load_never_flaps():
    assert changes(drive(FluidJob(lambda t: 3000 * wobble(t), executors=4), 3600), after_s=120) <= 1


def test_a_higher_row_cost_is_absorbed_with_a_stable_new_size():
    job = FluidJob(
        lambda t: 1800 * wobble(t) if t > 100 else 300, lambda t: 1000 if t < 1800 else 333
    )
    records = drive(job, 3600)
    assert late([record for record in records if record.t_s > 2100]) == 0
    assert 6 <= targets(records)[-1] <= 8
    assert changes(records, after_s=2100) <= 1


def test_a_lower_row_cost_is_detected_without_lag():
    job = FluidJob(
        lambda t: 1500 * wobble(t) if t > 100 else 300, lambda t: 333 if t < 1800 else 1000
    )
    records = drive(job, 2400)
    assert targets(records, after_s=1700)[0] >= 6
    assert targets(records)[-1] <= 3


def test_a_long_trigger_does_not_cause_a_scale_out():
    assert (
        max(targets(drive(FluidJob(lambda t: 1000 * wobble(t), executors=2, trigger_s=10.0), 1800)))
        == 2
    )


def test_an_idle_load_keeps_one_executor():
    records = drive(FluidJob(lambda t: 3000 * wobble(t) if t < 600 else 0), 900)
    assert targets(records)[-1] == 1


def test_short_back_to_back_batches_scale_in_until_lag_appears():
    job = FluidJob(lambda t: 1000 * wobble(t), executors=6, trigger_s=0.0, fixed_s=0.4)
    records = drive(job, 1800)
    assert max(targets(records, after_s=600)) <= 3
    assert late(records) == 0


def test_an_outage_is_caught_up_and_executors_are_released():
    job = FluidJob(
        lambda t: 3000 * wobble(t),
        lambda t: 10 if 900 <= t < 960 else 1000,
        executors=4,
        max_rows=6000,
    )
    records = drive(job, 2400)
    assert max(targets(records)) > 6
    assert late([record for record in records if record.t_s > 1300]) == 0
    assert targets(records)[-1] <= 5


def test_learned_throughput_survives_a_restart():
    _, memory = follow(POLICY, [observation(0.0), observation(5.0), observation(10.0)])
    assert (
        POLICY.decide(observation(400.0, batch_s=None, processed_rows_per_s=None), memory)[0].target
        == 3
    )


def test_lag_growth_before_a_rescale_is_ignored_afterwards():
    rising = [
        observation(5.0 * n, input_rows_per_s=500.0, lag_rows=1000.0 + 1000 * n) for n in range(3)
    ]
    falling = [
        observation(15.0 + 5 * n, 3, input_rows_per_s=500.0, lag_rows=3000.0 - 10 * n)
        for n in range(2)
    ]
    assert follow(POLICY, [*rising, *falling])[0][-1].target == 3


def test_batches_of_other_sizes_bound_the_throughput_per_executor():
    wide, narrow = (
        [observation(5.0 * n, 4, lag_s=0.5) for n in range(3)],
        observation(15.0, 2, lag_s=0.5, processed_rows_per_s=None),
    )
    assert "at 1,000 rows/s an executor" in follow(POLICY, [*wide, narrow])[0][-1].reason
