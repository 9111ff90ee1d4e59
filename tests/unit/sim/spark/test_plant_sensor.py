"""The signals of a simulated query are absent before the first batch and while it is idle."""

from __future__ import annotations

import pytest

from rheostat.model import Observation
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant, Workload
from rheostat_lab.loads.steps import Steps
from rheostat_lab.sweep.plant_parameters import spark_parameters

CALM = {"task_noise": 0.0, "batch_noise": 0.0, "start_noise": 0.0, "trigger_s": 10.0}


def plant_of(workload: Workload, **given: object) -> SparkPlant:
    return SparkPlant(spark_parameters({**CALM, **given}), workload, seed=1)


def observation(plant: SparkPlant, now: float) -> Observation:
    return plant.observe(now)[0]


def test_batch_signals_are_absent_before_the_first_batch() -> None:
    first = observation(plant_of(Constant(100.0)), 0.0)
    assert (first.batch_s, first.batch_rows, first.latency_s, first.stages) == (None,) * 4
    assert first.input_rows_per_s is None
    assert first.lag_rows == 0.0


def test_the_rate_covers_the_last_interval_and_repeated_reads_agree() -> None:
    plant = plant_of(Constant(100.0))
    observation(plant, 0.0)
    assert observation(plant, 20.0).input_rows_per_s == pytest.approx(100.0)
    assert observation(plant, 20.0).input_rows_per_s == pytest.approx(100.0)


def test_a_running_batch_reports_completed_and_remaining_tasks() -> None:
    plant = plant_of(Constant(5_000.0))
    at = next(t for t in range(10, 60) if observation(plant, float(t)).in_flight)
    running = observation(plant, float(at)).in_flight
    assert running is not None
    assert plant.running is not None
    assert running.elapsed_s == pytest.approx(at - plant.running.begin_s)
    tasks = sum(len(stage.ends_s) for stage in plant.running.stages)
    assert running.tasks_done is not None
    assert running.tasks_left is not None
    assert running.tasks_done + running.tasks_left == tasks


def test_an_idle_query_reports_no_batch() -> None:
    plant = plant_of(Steps(levels=(1_000.0, 0.0), hold_s=30.0))
    assert observation(plant, 29.0).batch_rows
    resting = observation(plant, 200.0)
    assert (resting.batch_s, resting.batch_rows, resting.lag_rows) == (0, 0, 0.0)
    assert resting.stages is None


def test_the_phases_of_a_batch_sum_to_at_most_its_duration() -> None:
    batch_parts = observation(plant_of(Constant(1_000.0)), 25.0).batch_parts_s
    assert batch_parts
    parts = dict(batch_parts)
    total = parts.pop("triggerExecution")
    assert all(0 <= part <= total for part in parts.values())
    assert sum(parts.values()) <= total + 1e-9


def test_busy_is_updated_every_fifteen_seconds_and_is_a_share() -> None:
    plant = plant_of(Constant(3_000.0))
    readings = [observation(plant, float(t)).busy for t in range(0, 60, 5)]
    assert readings[:3] == [None] * 3
    known = [busy for busy in readings if busy is not None]
    assert known
    assert all(0.0 <= busy <= 1.0 for busy in known)
    assert readings[3] == readings[4] == readings[5]
