"""The Flink plant: the loop's observations and actions; a seed repeats a run."""

from __future__ import annotations

import numpy as np
import pytest

from rheostat.guards import Bounds
from rheostat.model import Decision, Limits
from rheostat.policies.registry import create
from rheostat.sim.engine import simulate
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_plant import FlinkPlant

JOB = FlinkJob(rate_per_s=100.0, start_s=30.0, stop_s=5.0, restart_s=8.0, restart_noise=0.0)


def plant(
    rate: float = 300.0, seconds: int = 900, seed: int = 1, job: FlinkJob = JOB
) -> FlinkPlant:
    return FlinkPlant(job, [rate] * seconds, 4, np.random.SeedSequence(seed))


def request_size(of: FlinkPlant, size: int, now: float) -> None:
    of.advance(now)
    of.rescale(Decision(target=size, reason="asked"), now)


def test_requested_task_managers_register_after_their_start_time() -> None:
    job = plant()
    request_size(job, 6, 100.0)
    job.advance(125.0)
    assert job.observe(125.0)[0].executors == 4
    job.advance(140.0)
    assert job.observe(140.0)[0].executors == 6


def test_pending_task_managers_are_cancelled_without_a_restart() -> None:
    job = plant()
    request_size(job, 6, 100.0)
    request_size(job, 4, 110.0)
    job.advance(200.0)
    assert job.ledger().registered.changes(0.0) == 0


def test_only_size_cpu_and_arrivals_are_known_during_a_restart() -> None:
    job = plant()
    request_size(job, 3, 100.0)
    job.advance(108.0)
    observation = job.observe(108.0)[0]
    assert (observation.executors, observation.lag_s, observation.busy, observation.lag_rows) == (
        3,
        None,
        None,
        None,
    )
    assert observation.input_rows_per_s == pytest.approx(300.0)


def test_the_meters_restart_with_the_job() -> None:
    job = plant(rate=100.0)
    request_size(job, 3, 200.0)
    job.advance(230.0)
    early = job.observe(230.0)[0].processed_rows_per_s or 0.0
    job.advance(320.0)
    assert early < 70.0
    assert job.observe(320.0)[0].processed_rows_per_s == pytest.approx(100.0, rel=0.05)


def test_the_reported_lag_is_the_maximum_of_the_last_half_minute() -> None:
    job = plant(rate=100.0)
    request_size(job, 3, 200.0)
    job.advance(245.0)
    assert job.tasks.lag == pytest.approx(0.0, abs=1.0)
    assert (job.observe(245.0)[0].lag_rows or 0.0) > 500.0


def test_runs_are_reproducible_by_seed() -> None:
    def course(seed: int) -> list[float]:
        job = plant(rate=330.0, seed=seed)
        simulate(
            job,
            create("hpa", {"metrics": "cpu 0.7"}),
            (Bounds(Limits.between(1, 16)),),
            until_s=900.0,
            interval_s=15.0,
        )
        return [sample.latency_s for sample in job.samples]

    assert course(1) == course(1)
    assert course(1) != course(2)


def test_the_ledger_accounts_for_every_row() -> None:
    job = plant(rate=330.0)
    request_size(job, 2, 300.0)
    job.advance(900.0)
    book = job.ledger()
    assert book.arrived_rows == pytest.approx(book.committed_rows + book.left_rows.sum())
    assert book.rows.sum() == pytest.approx(book.committed_rows)
    assert book.downtime_s >= 8.0


def test_waiting_for_a_cold_task_manager_does_not_count_as_idle() -> None:
    def idle(waiting: float) -> float:
        cold = FlinkJob(
            rate_per_s=100.0,
            cold=0.1,
            warm_s=600.0,
            shuffled=True,
            restart_noise=0.0,
            waiting=waiting,
        )
        job = plant(job=cold)
        request_size(job, 5, 600.0)
        job.advance(700.0)
        return job.observe(700.0)[0].idle or 0.0

    assert idle(0.8) < idle(0.0) - 0.3


def test_chained_operators_count_as_additional_instances() -> None:
    def busy_s(chained: int) -> float:
        job = plant(job=FlinkJob(rate_per_s=100.0, restart_noise=0.0, chained=chained))
        job.advance(300.0)
        (stage,) = job.observe(300.0)[0].stages or ()
        return stage.busy_s or 0.0

    assert busy_s(2) == pytest.approx(2 * busy_s(1))


def test_restart_and_warm_up_times_vary_between_runs_only() -> None:
    noisy = FlinkJob(
        rate_per_s=100.0,
        restart_s=8.0,
        restart_noise=0.0,
        restart_noise_run=0.5,
        warm_noise_run=0.5,
    )
    runs = [plant(seed=seed, job=noisy).job for seed in range(200)]
    for samples, usual in (
        ([run.restart_s for run in runs], noisy.restart_s),
        ([run.warm_s for run in runs], noisy.warm_s),
    ):
        logs = np.log(np.array(samples) / usual)
        assert abs(logs.mean()) < 3 * 0.5 / np.sqrt(200)
        assert logs.std() == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(400))


def test_a_job_without_spread_is_identical_in_every_run() -> None:
    assert plant(seed=1).job == plant(seed=2).job == JOB
