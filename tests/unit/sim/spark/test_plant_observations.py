"""The observations of a simulated Spark query at any time, and the pace of its machine."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.model import Decision
from rheostat.sim.fitting.batch_fit import Pace, PacedPlant
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.steps import Steps
from rheostat_lab.sweep.faults import LateMetrics, MissingMetrics
from rheostat_lab.sweep.plant_parameters import spark_parameters

jobs = st.builds(
    SparkParameters,
    executors=st.integers(1, 4),
    slots_per_executor=st.integers(1, 3),
    trigger_s=st.sampled_from([0.0, 5.0]),
    source_partitions=st.integers(1, 9),
    state_partitions=st.sampled_from([1, 8]),
    source_row_s=st.sampled_from([1e-4, 3e-3]),
    state_keys=st.sampled_from([None, 400.0]),
    cpu_per_busy=st.sampled_from([None, 0.8]),
)
courses = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 6)), min_size=1, max_size=10)


@settings(max_examples=12, deadline=None)
@given(jobs, courses, st.integers(0, 99))
def test_every_reported_value_is_plausible(
    job: SparkParameters, course: list[tuple[int, int]], seed: int
) -> None:
    plant, now, rows = SparkPlant(job, Steps((300.0, 0.0, 900.0), 20.0), seed=seed), 0.0, 0
    for wait_s, target in course:
        now += wait_s
        plant.rescale(Decision(target=target, reason=""), now)
        (observation,) = plant.observe(now)
        (again,) = plant.observe(now)
        assert again == observation
        assert observation.t_s == now
        assert observation.target == target
        assert observation.lag_rows is not None
        assert observation.lag_rows >= 0
        for share in (observation.busy, observation.cpu):
            assert share is None or 0 <= share <= 1
        assert (observation.cpu is None) == (job.cpu_per_busy is None or observation.busy is None)
        assert observation.latency_s is None or observation.latency_s > 0
        assert observation.state_rows is not None
        assert observation.state_rows >= rows
        rows = observation.state_rows
        if job.state_keys is None:
            assert rows == 0
        else:
            assert rows <= min(job.state_keys, plant.committed) + 1
        if observation.in_flight:
            done, left = observation.in_flight.tasks_done, observation.in_flight.tasks_left
            assert (done or 0) + (left or 0) == job.source_partitions + job.state_partitions
            assert observation.in_flight.elapsed_s >= 0
        for stage in observation.stages or ():
            assert stage.task_max_s is not None
            assert stage.busy_s is not None
            assert stage.task_max_s <= stage.busy_s + 1e-9


@settings(max_examples=20)
@given(jobs)
def test_parameters_survive_a_round_trip_through_text(job: SparkParameters) -> None:
    written = {name: None if value is None else str(value) for name, value in vars_of(job).items()}
    assert spark_parameters(written) == job
    assert spark_parameters(vars_of(job)) == job


def vars_of(job: SparkParameters) -> dict[str, object]:
    return {field.name: getattr(job, field.name) for field in dataclasses.fields(job)}


@pytest.mark.parametrize(
    "name",
    [
        parameter.name
        for parameter in dataclasses.fields(SparkParameters)
        if parameter.name != "placement"
    ],
)
@pytest.mark.parametrize("value", [-1, "many", True, math.inf, math.nan, 10**400])
def test_an_invalid_parameter_is_rejected_by_name_in_one_line(name: str, value: object) -> None:
    with pytest.raises(BadInput, match=name) as error:
        spark_parameters({name: value})
    assert len(str(error.value).splitlines()) == 1


ages = st.lists(st.floats(0, 500), max_size=6).map(lambda drawn: sorted(drawn, reverse=True))


@settings(max_examples=30)
@given(ages, st.integers(0, 6), st.floats(1, 300), st.floats(0, 1))
def test_newness_is_a_share_that_decreases_with_age(
    ages_s: list[float], first: int, new_s: float, share: float
) -> None:
    pace = Pace(new=1.0, new_s=new_s, first=share)
    newness = pace.newness(ages_s, first)
    assert 0 <= newness <= 1
    assert pace.newness([age_s + 10 for age_s in ages_s], first) <= newness + 1e-12
    if not first and ages_s:
        assert pace.newness([0.0] * len(ages_s), 0) == 1


def test_a_pace_is_linear_between_its_knots_and_constant_beyond() -> None:
    pace = Pace((10.0, 20.0), (1.0, 3.0))
    assert pace.at(np.array([0.0, 10.0, 15.0, 20.0, 99.0])).tolist() == [1.0, 1.0, 2.0, 3.0, 3.0]


@settings(max_examples=6, deadline=None)
@given(st.floats(1.0, 4.0), st.integers(0, 9))
def test_a_slower_machine_takes_proportionally_longer(factor: float, seed: int) -> None:
    job = SparkParameters(executors=2, trigger_s=10.0)
    plain = SparkPlant(job, Steps((500.0, 0.0), 10.0), seed=seed)
    paced = SparkPlant(job, Steps((500.0, 0.0), 10.0), seed=seed)
    around = PacedPlant(paced, Pace((0.0,), (factor,)))
    for second in range(60):
        plain.advance(float(second))
        around.advance(float(second))
    assert plain.last
    assert paced.last
    assert paced.last.rows == plain.last.rows
    assert paced.last.batch_s == pytest.approx(factor * plain.last.batch_s)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_missing_metrics_affect_all_signals_but_never_the_size(share: float) -> None:
    plant = SparkPlant(SparkParameters(), Steps((500.0,)))
    around = MissingMetrics(plant, share, np.random.default_rng(1))
    (partial,), (full,) = around.observe(40.0), plant.observe(40.0)
    assert (partial.executors, partial.target) == (full.executors, full.target)
    assert (
        partial == full
        if share == 0
        else partial.lag_rows is partial.batch_s is partial.busy is None
    )


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(0.5, 20), min_size=1, max_size=12), st.floats(0, 30))
def test_a_delayed_signal_is_the_newest_one_that_is_old_enough(
    waits_s: list[float], delay_s: float
) -> None:
    plant = LateMetrics(SparkPlant(SparkParameters(), Steps((500.0,))), delay_s)
    now, observed_s = 0.0, []
    for wait_s in waits_s:
        now += wait_s
        observed_s.append(now)
        (observation,) = plant.observe(now)
        old = [t_s for t_s in observed_s if t_s <= now - delay_s]
        assert observation.t_s == (old[-1] if old else now)
        assert (observation.lag_rows is None) == (not old)
