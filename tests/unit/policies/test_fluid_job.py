import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.policies.fluid_job import FluidJob

from rheostat.errors import BadInput
from rheostat.model import Decision, Observation


def run(job: FluidJob, until_s: int, step_s: int = 1) -> Observation:
    return [job.observe(float(t))[0] for t in range(0, until_s + 1, step_s)][-1]


def test_batch_time_is_fixed_cost_plus_work():
    last = run(FluidJob(lambda _: 500.0, 1000.0, fixed_s=0.1), 10)
    assert last.batch_s == pytest.approx(0.1 + 500 / 1000)
    assert last.processed_rows_per_s == pytest.approx(500 / 0.6)
    assert last.lag_s == pytest.approx(1.0)


def test_too_few_executors_accumulate_lag():
    job = FluidJob(lambda _: 2000.0, 1000.0)
    assert (run(job, 20).batch_s or 0) < (run(job, 200).batch_s or 0)
    assert job.worst_lag_s > 20


def test_executors_start_with_a_delay_and_leave_at_once():
    job = FluidJob(lambda _: 0.0, start_ticks=2)
    job.observe(0.0)
    sizes = []
    for n in range(4):
        assert job.rescale(Decision(target=3, reason=""), n).phase == (
            "growing" if n < 2 else "steady"
        )
        sizes.append(job.observe(n + 1.0)[0].executors)
    assert sizes == [1, 3, 3, 3]
    assert job.rescale(Decision(target=1, reason=""), 5.0).phase == "shrinking"
    assert job.executors == 1


def test_max_rows_limits_a_batch():
    assert run(FluidJob(lambda _: 2000.0, max_rows=100.0), 20).batch_rows == 100


def test_a_running_batch_is_reported_in_flight():
    running = run(FluidJob(lambda _: 5000.0, 1000.0), 9).in_flight
    assert running is not None
    assert running.elapsed_s >= 0
    assert running.rows


def test_an_invalid_job_is_rejected():
    with pytest.raises(BadInput, match="-1"):
        FluidJob(lambda _: 1.0, fixed_s=-1)


@settings(max_examples=25, deadline=None)
@given(
    rates=st.lists(st.floats(0, 1e4), min_size=1, max_size=30),
    targets=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    trigger_s=st.sampled_from([0.0, 1.0, 7.0]),
    step_s=st.sampled_from([1.0, 5.0, 13.0]),
)
def test_no_rows_are_lost_for_any_requests(rates, targets, trigger_s, step_s):
    job = FluidJob(lambda t: rates[int(t) % len(rates)], trigger_s=trigger_s, fixed_s=0.5)
    before = 0.0
    for n in range(30):
        observation = job.observe(n * step_s)[0]
        job.rescale(Decision(target=targets[n % len(targets)], reason=""), n * step_s)
        assert job.arrived == pytest.approx(job.committed + (observation.lag_rows or 0.0))
        assert job.committed >= before
        assert (observation.lag_rows or 0.0) >= -1e-6
        before = job.committed
