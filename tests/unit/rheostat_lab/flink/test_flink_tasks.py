"""The tasks of a Flink job: conservation, restarts from the last checkpoint, quantisation,
warmth."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_tasks import Tasks

WARM = FlinkJob(rate_per_s=100.0, cold=1.0, restart_s=5.0)


def run(tasks: Tasks, seconds: int) -> Tasks:
    for _ in range(seconds):
        tasks.step()
    return tasks


@given(sizes=st.lists(st.integers(1, 16), min_size=1, max_size=6), rate=st.floats(0, 3000))
@settings(max_examples=30, deadline=None)
def test_arrived_rows_are_read_or_waiting(sizes: list[int], rate: float) -> None:
    tasks = Tasks(WARM, [rate] * 200, 4)
    for size in sizes:
        tasks.resize(size, 5.0)
        run(tasks, 30)
        assert tasks.mean_position() + tasks.lag == pytest.approx(tasks.arrived[tasks.second])
        assert 0 <= tasks.mean_position() <= tasks.arrived[tasks.second]


def test_a_restart_reprocesses_rows_since_the_last_complete_checkpoint() -> None:
    tasks = run(
        Tasks(WARM, [100.0] * 60, 4), 28
    )  # checkpoints at 10 and 20 s, complete a second later
    tasks.resize(4, 0.0)
    assert tasks.replayed == pytest.approx(800.0)
    assert tasks.lag == pytest.approx(800.0)


def test_backpressure_delays_checkpoints() -> None:
    calm, pressed = (run(Tasks(WARM, [rate] * 120, 4), 100) for rate in (300.0, 500.0))
    for tasks in (calm, pressed):
        tasks.resize(4, 0.0)
    assert pressed.replayed / 400 > calm.replayed / 300


@given(short=st.integers(0, 20), more=st.integers(1, 20))
@settings(max_examples=20, deadline=None)
def test_a_longer_restart_never_reduces_lag(short: int, more: int) -> None:
    left = []
    for down_s in (short, short + more):
        tasks = run(Tasks(WARM, [200.0] * 100, 4), 15)
        tasks.resize(3, float(down_s))
        left.append(run(tasks, 60).lag)
    assert left[0] <= left[1] + 1e-6


def test_tasks_with_one_extra_partition_limit_the_throughput() -> None:
    tasks = run(
        Tasks(WARM, [700.0] * 300, 7), 300
    )  # 24 partitions: three tasks read 4, four read 3
    waiting = {group.partitions: tasks.arrived[300] - group.position for group in tasks.groups}
    assert waiting[4] > 1000
    assert waiting[3] == pytest.approx(0, abs=1)


def test_with_a_shuffle_uneven_partitions_cost_nothing() -> None:
    job = FlinkJob(rate_per_s=100.0, cold=1.0, shuffled=True)
    assert run(Tasks(job, [700.0] * 300, 7), 300).lag == pytest.approx(0, abs=1)
    assert run(Tasks(job, [800.0] * 300, 7), 300).lag == pytest.approx(30_000, rel=0.01)


@pytest.mark.parametrize(("shuffled", "behind"), [(True, True), (False, False)])
def test_a_cold_task_slows_the_others_only_with_a_shuffle(shuffled: bool, behind: bool) -> None:
    job = FlinkJob(rate_per_s=100.0, cold=0.1, warm_s=600.0, shuffled=shuffled)
    tasks = run(Tasks(job, [300.0] * 4000, 4), 3000)
    tasks.resize(5, 0.0)
    run(tasks, 100)
    oldest = min(tasks.groups, key=lambda group: group.born_s)
    assert (tasks.arrived[tasks.second] - oldest.position > 1000) == behind


def test_age_is_the_time_since_the_arrival_of_the_current_row() -> None:
    tasks = Tasks(WARM, [100.0] * 100, 4)
    tasks.resize(4, 30.0)
    assert run(tasks, 25).age_s == pytest.approx(25.0)


def test_the_task_rate_falls_with_parallelism_and_record_age() -> None:
    job = FlinkJob(rate_per_s=100.0, contention=0.1, coherence=0.01, strain=0.5)
    rates = [job.task_rate(size, 0.0) for size in (1, 2, 8, 16)]
    assert rates == sorted(rates, reverse=True)
    assert job.task_rate(4, 100.0) < job.task_rate(4, 0.0)


def test_contention_starts_if_two_task_managers_share_a_host() -> None:
    spread = FlinkJob(rate_per_s=100.0, contention=0.1, hosts=4)
    assert [spread.task_rate(size, 0.0) for size in (1, 4)] == [100.0, 100.0]
    assert spread.task_rate(6, 0.0) == pytest.approx(100.0 / 1.2)
    assert FlinkJob(rate_per_s=100.0, contention=0.1).task_rate(3, 0.0) == pytest.approx(
        spread.task_rate(6, 0.0)
    )


def test_a_cold_task_takes_longer_for_the_same_rows() -> None:
    warm, cold = (
        run(Tasks(FlinkJob(rate_per_s=100.0, cold=share, warm_s=600.0), [100.0] * 20, 2), 10)
        for share in (1.0, 0.6)
    )
    assert warm.used == warm.worked == pytest.approx(cold.used)
    assert cold.worked > 1.5 * cold.used


def test_a_negative_parameter_is_rejected_by_name() -> None:
    with pytest.raises(BadInput, match="contention of a Flink job must be at least 0"):
        FlinkJob(rate_per_s=1.0, contention=-1.0)
    with pytest.raises(
        BadInput, match=r"needs a rate, partitions and hosts, but they are 1\.0, 24 and 0"
    ):
        FlinkJob(rate_per_s=1.0, hosts=0)
