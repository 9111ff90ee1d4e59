import itertools
import math
from typing import Any

import pytest

from rheostat.guards import standard_guards
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import InFlight, Limits, Observation, Record
from rheostat.policies.measured_throughput import MeasuredThroughput
from rheostat.testing.contracts import follow
from rheostat.testing.fakes import FluidJob

POLICY = MeasuredThroughput(settle_s=0.0)


def seen(t_s: float, executors: int = 2, target: int | None = None, **signals: Any) -> Observation:
    """Two executors under lag whose last batch had 1000 rows per second and executor; no two batches are alike."""
    usual: dict[str, Any] = {"input_rows_per_s": 2500.0, "lag_s": 4.0, "lag_rows": 10_000.0, "batch_s": 2.0 + t_s / 1e4, "trigger_s": 1.0}
    usual |= {"processed_rows_per_s": 1000.0 * executors}
    return Observation(t_s=t_s, executors=executors, target=target or executors, **{**usual, **signals})


def drive(job: FluidJob, until_s: float, step_s: float = 5.0, policy: MeasuredThroughput = POLICY, most: int = 10) -> list[Record]:
    guards = standard_guards(Limits(max_executors=most))
    loop = Loop(sensor=job, policy=policy, guards=guards, actuator=job, journal=MemoryJournal())
    return [loop.step(n * step_s) for n in range(int(until_s / step_s) + 1)]


def targets(records: list[Record], after_s: float = 0.0) -> list[int]:
    return [record.target or 0 for record in records if record.t_s >= after_s]


def changes(records: list[Record], after_s: float = 0.0) -> int:
    sizes = targets(records, after_s)
    return sum(a != b for a, b in itertools.pairwise(sizes))


def late(records: list[Record], lag_s: float = 10.0) -> float:
    """Return for how long the lag was beyond ``lag_s``, as a share of the ticks."""
    return sum((record.observation.lag_s or 0.0) > lag_s for record in records if record.observation) / len(records)


def wobble(t: float) -> float:
    """Return a deterministic factor between 0.8 and 1.2 that no two neighbouring seconds share."""
    return 1.0 + 0.2 * math.sin(int(t) * 2.4)


def test_the_size_is_the_equation():
    # 2500 x 1.2 + 10000 / 60 = 3166.7 rows/s to serve, 1000 an executor: 4
    decision = follow(POLICY, [seen(0.0), seen(5.0), seen(10.0)])[0][-1]
    assert decision.target == 4
    assert decision.reason == "lag (4.0 s): 2500 rows/s at 1000 rows/s an executor need 4"
    assert decision.evidence == {"rate": 2500.0, "lag_s": 4.0, "lag_slope": 0.0, "throughput_per_executor": 1000.0, "samples": 2}


def test_rising_lag_asks_for_one_more_than_an_equation_that_is_content():
    rising = [seen(5.0 * n, input_rows_per_s=500.0, lag_rows=1000.0 + 100 * n) for n in range(4)]
    assert follow(POLICY, rising)[0][-1].target == 3


def test_lag_that_falls_keeps_the_size():
    falling = [seen(5.0 * n, input_rows_per_s=500.0, lag_rows=5000.0 - 100 * n) for n in range(4)]
    assert follow(POLICY, falling)[0][-1].target == 2


def test_executors_that_are_on_their_way_are_waited_for():
    rising = [seen(5.0 * n, target=4, input_rows_per_s=500.0, lag_rows=1000.0 + 100 * n) for n in range(4)]
    assert follow(POLICY, rising)[0][-1].target == 4


def test_no_lag_scales_in_to_the_equation_of_the_highest_rate_of_the_last_half_minute():
    calm = [seen(5.0 * n, 6, lag_s=0.5, lag_rows=100.0, input_rows_per_s=4000.0 if n == 2 else 100.0) for n in range(10)]
    decisions, _ = follow(POLICY, [seen(-5.0, 6), *calm])
    assert [decision.target for decision in decisions[3:]] == [5, 5, 5, 5, 5, 5, 5, 1]


def test_no_lag_never_scales_out():
    assert follow(POLICY, [seen(5.0 * n, lag_s=0.5, input_rows_per_s=9000.0) for n in range(9)])[0][-1].target == 2


@pytest.mark.parametrize("absent", ["lag_s", "input_rows_per_s"])
def test_an_absent_signal_never_scales_in(absent):
    decisions, _ = follow(POLICY, [seen(0.0, 6), *(seen(5.0 * n, 6, **{absent: None}) for n in range(1, 20))])
    assert {decision.target for decision in decisions} == {6}


def test_no_arrivals_need_one_executor_although_nothing_was_measured():
    idle = Observation(t_s=0.0, executors=8, target=8, input_rows_per_s=0.0, lag_s=0.0, lag_rows=0.0)
    assert POLICY.decide(idle, {})[0].target == 1


def test_unknown_throughput_keeps_the_size_without_lag_and_goes_up_by_one_under_rising_lag():
    blind: dict[str, Any] = {"processed_rows_per_s": None, "batch_s": None}
    assert follow(POLICY, [seen(5.0 * n, lag_s=0.5, **blind) for n in range(4)])[0][-1].target == 2
    assert follow(POLICY, [seen(5.0 * n, lag_rows=100.0 * n, **blind) for n in range(4)])[0][-1].target == 3


def test_a_lag_of_two_triggers_is_none():
    minute: dict[str, Any] = {"trigger_s": 60.0, "lag_s": 110.0, "input_rows_per_s": 500.0}
    assert follow(POLICY, [seen(5.0 * n, lag_rows=1000.0 * n, **minute) for n in range(4)])[0][-1].target == 1


def test_only_lag_that_grows_in_rows_is_rising():
    """When arrivals stop, the wait by Little's law jumps up although the queue gets shorter."""
    ebb = [seen(5.0 * n, input_rows_per_s=1000.0 / (n + 1), lag_s=4.0 + 10 * n, lag_rows=9000.0 - 1000 * n) for n in range(6)]
    assert follow(POLICY, ebb)[0][-1].target == 2


def learnt(*script: Observation) -> dict[str, list[float]]:
    memory = follow(POLICY, script)[1]
    return {size: [rate for _, rate in samples] for size, samples in memory["throughput"].items()}


def test_a_batch_under_lag_is_learnt_once():
    one = seen(5.0)
    assert learnt(seen(0.0), one, one, one) == {"2": [2000.0]}


def test_batches_of_cold_executors_are_not_learnt():
    policy = MeasuredThroughput(settle_s=10.0)
    _, memory = follow(policy, [seen(5.0 * n, processed_rows_per_s=100.0 * (n + 1)) for n in range(5)])
    assert [rate for _, rate in memory["throughput"]["2"]] == [400.0, 500.0]


def test_without_lag_nothing_is_learnt():
    assert learnt(*(seen(5.0 * n, lag_s=0.5) for n in range(5))) == {}


def test_a_batch_that_began_before_the_rescaling_is_not_learnt():
    grown = [seen(10.0, 4, batch_s=3.0), seen(12.0, 4, batch_s=3.0), seen(15.0, 4, batch_s=5.5), seen(20.0, 4, batch_s=4.5)]
    assert learnt(seen(0.0, 2), seen(5.0, 2), *grown) == {"2": [2000.0], "4": [4000.0]}


def test_the_time_the_running_batch_has_run_is_not_the_last_batchs():
    assert learnt(seen(0.0), seen(5.0, batch_s=4.0, in_flight=InFlight(elapsed_s=2.0))) == {}


def test_as_many_samples_are_kept_as_asked():
    policy = MeasuredThroughput(samples=3)
    _, memory = follow(policy, [seen(5.0 * n, processed_rows_per_s=1000.0 + n) for n in range(9)])
    assert [rate for _, rate in memory["throughput"]["2"]] == [1006.0, 1007.0, 1008.0]


def test_old_samples_go_when_new_ones_come_and_not_before():
    old, quiet = [seen(5.0 * n, 4) for n in range(4)], [seen(3600.0 + 5 * n, 4, lag_s=0.5) for n in range(4)]
    assert set(learnt(*old, *quiet)) == {"4"}
    assert set(learnt(*old, *quiet, seen(7200.0, 2), seen(7205.0, 2))) == {"2"}


def test_the_nearest_size_that_was_measured_counts():
    measured = {"throughput": {"1": [[0.0, 900.0]], "8": [[0.0, 4000.0]]}}
    assert POLICY.decide(seen(9.0, 2, processed_rows_per_s=None), measured)[0].evidence["throughput_per_executor"] == 900.0
    assert POLICY.decide(seen(9.0, 6, processed_rows_per_s=None), measured)[0].evidence["throughput_per_executor"] == 500.0


def test_a_ramp_is_followed_and_worked_off_within_a_minute():
    job = FluidJob(lambda t: wobble(t) * (500 + 5000 * min(max(t - 300, 0) / 60, 1)), 1200.0)
    records = drive(job, 900)
    assert targets(records)[59] == 1
    assert targets(records)[-1] in (6, 7)
    assert job.worst_lag_s < 15
    assert all((record.observation.lag_s or 0) < 3 for record in records if record.t_s > 420 and record.observation)


def test_a_quiet_hour_scales_in_without_flapping():
    records = drive(FluidJob(lambda t: 400 * wobble(t) if t > 600 else 4000 * wobble(t), executors=6), 4200)
    assert targets(records)[-1] == 1
    assert changes(records, after_s=700) <= 2


def test_a_day_needs_few_rescalings_and_keeps_the_objective():
    job = FluidJob(lambda t: wobble(t) * (3000 - 2500 * math.cos(2 * math.pi * t / 86_400)), fixed_s=0.2, trigger_s=2.0)
    records = drive(job, 86_400, step_s=20.0)
    assert late(records) < 0.01
    assert changes(records) <= 40
    assert job.executor_s / 86_400 < 5
    assert job.arrived == pytest.approx(job.committed + job.lag_rows)


def test_a_steady_noisy_load_never_flaps():
    assert changes(drive(FluidJob(lambda t: 3000 * wobble(t), executors=4), 3600), after_s=120) <= 1


def test_rows_that_become_dearer_are_worked_off_and_the_new_size_stands():
    job = FluidJob(lambda t: 1800 * wobble(t) if t > 100 else 300, lambda t: 1000 if t < 1800 else 333)
    records = drive(job, 3600)
    assert late([record for record in records if record.t_s > 2100]) == 0
    assert 6 <= targets(records)[-1] <= 8
    assert changes(records, after_s=2100) <= 1


def test_rows_that_become_cheaper_are_noticed_without_any_lag():
    job = FluidJob(lambda t: 1500 * wobble(t) if t > 100 else 300, lambda t: 333 if t < 1800 else 1000)
    records = drive(job, 2400)
    assert targets(records, after_s=1700)[0] >= 6
    assert targets(records)[-1] <= 3


def test_a_long_trigger_is_no_reason_to_grow():
    assert max(targets(drive(FluidJob(lambda t: 1000 * wobble(t), executors=2, trigger_s=10.0), 1800))) == 2


def test_a_load_that_stops_leaves_one_executor():
    records = drive(FluidJob(lambda t: 3000 * wobble(t) if t < 600 else 0), 900)
    assert targets(records)[-1] == 1


def test_back_to_back_batches_that_are_short_are_tried_with_less_until_lag_teaches():
    job = FluidJob(lambda t: 1000 * wobble(t), executors=6, trigger_s=0.0, fixed_s=0.4)
    records = drive(job, 1800)
    assert max(targets(records, after_s=600)) <= 3
    assert late(records) == 0


def test_an_outage_is_worked_off_and_the_executors_given_back():
    job = FluidJob(lambda t: 3000 * wobble(t), lambda t: 10 if 900 <= t < 960 else 1000, executors=4, max_rows=6000)
    records = drive(job, 2400)
    assert max(targets(records)) > 6
    assert late([record for record in records if record.t_s > 1300]) == 0
    assert targets(records)[-1] <= 5


def test_a_restart_knows_what_was_learnt():
    _, memory = follow(POLICY, [seen(0.0), seen(5.0), seen(10.0)])
    assert POLICY.decide(seen(400.0, batch_s=None, processed_rows_per_s=None), memory)[0].target == 4


def test_lag_that_rose_before_the_rescaling_is_not_rising_after_it():
    rising = [seen(5.0 * n, input_rows_per_s=500.0, lag_rows=1000.0 + 1000 * n) for n in range(3)]
    falling = [seen(15.0 + 5 * n, 3, input_rows_per_s=500.0, lag_rows=3000.0 - 10 * n) for n in range(2)]
    assert follow(POLICY, [*rising, *falling])[0][-1].target == 3


def test_batches_of_another_size_bound_what_an_executor_can_do():
    wide, narrow = [seen(5.0 * n, 4, lag_s=0.5) for n in range(3)], seen(15.0, 2, lag_s=0.5, processed_rows_per_s=None)
    assert "at 1000 rows/s an executor" in follow(POLICY, [*wide, narrow])[0][-1].reason
