"""A join: its cost depends on both inputs and on the state, and policies receive each rate."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest

from rheostat.capacity.identify import Batches
from rheostat.errors import BadInput
from rheostat.policies.registry import create
from rheostat.signals.true_rates import arrivals_per_s
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant

JOB = SparkParameters(
    executors=4,
    trigger_s=1.0,
    source_partitions=8,
    state_partitions=8,
    second_share=0.25,
    source_row_s=1e-3,
    second_row_s=3e-3,
    state_row_s=5e-4,
    state_growth=50.0,
    state_keys=1e12,
    selectivity=0.5,
    task_noise=0.0,
    batch_noise=0.0,
)


def test_batch_times_follow_the_model_at_the_given_state_rows() -> None:
    plant = SparkPlant(JOB, Constant(800.0))
    for second in range(30, 90, 5):
        plant.advance(float(second))
        batch = plant.last
        assert batch is not None
        # A row of every source that reaches the join stays in the state.
        state_rows = batch.first_row * JOB.selectivity
        predicted_s = JOB.model_at(state_rows).batch_s(batch.rows, 4)
        assert batch.batch_s == pytest.approx(predicted_s, rel=1e-6)
    assert JOB.model_at(20_000).batch_s(800, 4) > 1.05 * JOB.model.batch_s(800, 4)


def test_source_work_is_rows_times_the_cost_per_row() -> None:
    plant = SparkPlant(JOB, Constant(800.0))
    observation = plant.observe(30.0)[0]
    first, second, join = observation.stages or ()
    assert (first.upstream, second.upstream) == (("kafka",), ("kafka 2",))
    assert join.upstream == (first.name, second.name)
    for stage, share, row_s in ((first, 0.75, 1e-3), (second, 0.25, 3e-3)):
        assert stage.rows_in == pytest.approx(share * (observation.batch_rows or 0))
        assert stage.busy_s == pytest.approx(8 * 0.015 + (stage.rows_in or 0) * row_s)


def test_ds2_uses_source_rates_and_dhalion_their_sum() -> None:
    plant = SparkPlant(JOB, Constant(800.0))
    plant.observe(29.0)
    observation = plant.observe(30.0)[0]
    assert observation.inputs == pytest.approx({"kafka": 600.0, "kafka 2": 200.0})
    evidence = create("ds2").decide(observation, {})[0].evidence
    first, second, _ = observation.stages or ()
    for stage, rate in ((first, 600.0), (second, 200.0)):
        assert evidence[f"pi {stage.name}"] == pytest.approx(
            rate * (stage.busy_s or 0) / (stage.rows_in or 1)
        )
    assert observation.input_rows_per_s == pytest.approx(800.0)
    assert arrivals_per_s(replace(observation, input_rows_per_s=None)) == pytest.approx(800.0)


def test_predictive_follows_a_join_that_becomes_more_expensive() -> None:
    """The one-step error stays small although a row costs more in every batch."""
    plant = SparkPlant(JOB, Constant(800.0))
    learned = Batches()
    errors = []
    for second in range(2, 120):
        observation = plant.observe(float(second))[0]
        if not observation.batch_s or not observation.batch_rows:
            continue
        known = learned.identified()
        if known is not None:
            predicted_s = known.model.batch_s(observation.batch_rows, 4)
            errors.append(abs(observation.batch_s / predicted_s - 1))
        learned = learned.with_batch(
            observation.batch_s, observation.batch_rows, 4, observation.stages
        )
    assert median(errors[5:]) < 0.05


def test_a_second_source_without_state_is_rejected() -> None:
    with pytest.raises(BadInput, match="a join has state"):
        SparkParameters(second_share=0.5, state_partitions=0)
