"""A Flink job with any sequence of targets: sizes arrive, no row is lost, a seed repeats a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.model import Decision
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_plant import FlinkPlant
from rheostat_lab.flink.flink_tasks import Tasks

JOB = FlinkJob(rate_per_s=100.0)
courses = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9)), min_size=1, max_size=6)
jobs = st.builds(
    FlinkJob,
    rate_per_s=st.just(100.0),
    start_s=st.sampled_from([1.0, 30.0]),
    stop_s=st.sampled_from([0.0, 6.0]),
    restart_s=st.sampled_from([0.0, 8.0]),
    cold=st.sampled_from([0.2, 1.0]),
    shuffled=st.booleans(),
)


def run_course(job: FlinkJob, course: list[tuple[int, int]], seed: int) -> FlinkPlant:
    """Return a job that received each target the given number of seconds after the previous one."""
    plant, now = FlinkPlant(job, [350.0] * 500, 4, np.random.SeedSequence(seed)), 0
    for wait_s, target in course:
        now += wait_s
        plant.advance(float(now))
        plant.rescale(Decision(target=target, reason=""), float(now))
    plant.advance(500.0)
    return plant


@settings(max_examples=8, deadline=None)
@given(jobs, courses, st.integers(0, 9))
def test_the_last_target_is_reached_and_no_row_is_lost(
    job: FlinkJob, course: list[tuple[int, int]], seed: int
) -> None:
    plant = run_course(job, course, seed)
    book = plant.ledger()
    assert plant.tasks.size == course[-1][1] == book.registered.values[-1]
    assert plant.rescale(Decision(target=course[-1][1], reason=""), 500.0).phase == "steady"
    assert book.arrived_rows == pytest.approx(book.committed_rows + book.left_rows.sum())
    assert (book.lag_rows >= -1e-6).all()
    assert 0 <= book.downtime_s <= 500
    for sample in plant.samples:
        observation = sample.observation
        for share in (observation.cpu, observation.busy, observation.idle):
            assert share is None or -1e-9 <= share <= 1 + 1e-9


def test_task_managers_registered_before_a_scale_in_completes_are_kept() -> None:
    job = replace(JOB, start_s=1.0, stop_s=6.0)
    assert run_course(job, [(10, 2), (1, 6)], seed=1).tasks.size == 6


@settings(max_examples=3, deadline=None)
@given(courses, st.integers(0, 9))
def test_the_same_seed_and_course_give_the_same_run(
    course: list[tuple[int, int]], seed: int
) -> None:
    one, same = (run_course(JOB, course, seed) for _ in range(2))
    assert one.samples == same.samples


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 12), st.integers(0, 600), st.booleans())
def test_without_contention_an_additional_task_never_increases_lag(
    size: int, rate: int, shuffled: bool
) -> None:
    job = replace(JOB, cold=1.0, shuffled=shuffled, partitions=24)
    lags = []
    for tasks in (size, size + 1, 24):
        job_of = Tasks(job, [float(rate)] * 60, tasks)
        for _ in range(60):
            job_of.step()
        lags.append(job_of.lag)
    assert lags[0] + 1e-6 >= lags[1] >= lags[2] - 1e-6


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.integers(1, 64))
@settings(max_examples=40)
def test_task_managers_warm_up_and_old_records_cost_more(
    early_s: float, later_s: float, tasks: int
) -> None:
    job = FlinkJob(rate_per_s=100.0, cold=0.3, warm_s=90.0, strain=0.5, memory=2.0)
    young, old = sorted((early_s, later_s))
    assert 0.3 <= job.warmth(young) <= job.warmth(old) <= 1
    assert 1 <= job.work(tasks, young) <= job.work(tasks, old)
    assert job.share_joined(young) >= job.share_joined(old) > 0
