"""The signals of a simulated query are absent before the first batch and while it is idle."""

from __future__ import annotations

import pytest

from rheostat.model import Observation
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.workloads.workload import Constant, Steps, Workload

CALM = {"task_noise": 0.0, "batch_noise": 0.0, "start_noise": 0.0, "trigger_s": 10.0}


def plant_of(workload: Workload, **given: object) -> SparkPlant:
    return SparkPlant(SparkParameters.of({**CALM, **given}), workload, seed=1)


def seen(plant: SparkPlant, now: float) -> Observation:
    return plant.observe(now)[0]


def test_before_the_first_batch_nothing_of_a_batch_is_known() -> None:
    first = seen(plant_of(Constant(100.0)), 0.0)
    assert (first.batch_s, first.batch_rows, first.latency_s, first.stages) == (None,) * 4
    assert first.input_rows_per_s is None
    assert first.lag_rows == 0.0


def test_the_rate_is_what_came_between_two_looks_and_a_second_look_at_once_tells_the_same() -> None:
    plant = plant_of(Constant(100.0))
    seen(plant, 0.0)
    assert seen(plant, 20.0).input_rows_per_s == pytest.approx(100.0)
    assert seen(plant, 20.0).input_rows_per_s == pytest.approx(100.0)


def test_a_batch_that_runs_is_in_flight_and_its_tasks_are_done_or_left() -> None:
    plant = plant_of(Constant(5_000.0))
    at = next(t for t in range(10, 60) if seen(plant, float(t)).in_flight)
    running = seen(plant, float(at)).in_flight
    assert running is not None
    assert plant.running is not None
    assert running.elapsed_s == pytest.approx(at - plant.running.begin_s)
    tasks = sum(len(stage.ends_s) for stage in plant.running.stages)
    assert running.tasks_done is not None
    assert running.tasks_left is not None
    assert running.tasks_done + running.tasks_left == tasks


def test_a_query_that_rests_shows_no_batch_any_more() -> None:
    plant = plant_of(Steps(levels=(1_000.0, 0.0), hold_s=30.0))
    assert seen(plant, 29.0).batch_rows
    resting = seen(plant, 200.0)
    assert (resting.batch_s, resting.batch_rows, resting.lag_rows) == (0, 0, 0.0)
    assert resting.stages is None


def test_the_parts_of_a_batch_are_parts_of_its_time() -> None:
    told = seen(plant_of(Constant(1_000.0)), 25.0).batch_parts_s
    assert told
    parts = dict(told)
    whole = parts.pop("triggerExecution")
    assert all(0 <= part <= whole for part in parts.values())
    assert sum(parts.values()) <= whole + 1e-9


def test_busy_is_asked_for_every_fifteen_seconds_and_stays_between_none_and_all() -> None:
    plant = plant_of(Constant(3_000.0))
    told = [seen(plant, float(t)).busy for t in range(0, 60, 5)]
    assert told[:3] == [None] * 3
    known = [busy for busy in told if busy is not None]
    assert known
    assert all(0.0 <= busy <= 1.0 for busy in known)
    assert told[3] == told[4] == told[5]
