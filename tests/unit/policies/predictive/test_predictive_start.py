"""In the first seconds of a live job, ``predictive`` requests nothing that the load does not need,
in spite of cold batches and few observations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from rheostat.guards import guards_of
from rheostat.model import InFlight, Memory, Observation, Stage
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.registry import create
from rheostat.sim.engine import Run, simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.demo.demo_options import Demo

DEMO = Demo()


@dataclass(frozen=True)
class Sample:
    """An observation of the demo with one executor: 201 rows/s, and cold batches."""

    t_s: float
    rate: float
    batch_s: float
    batch_rows: int
    lag: float
    running_s: float
    busy_s: float


FIRST_SAMPLES = (
    Sample(4.1, 71, 0.187, 0, 290, 4.06, 0.002),
    Sample(7.1, 202, 1.344, 228, 601, 1.60, 0.002),
    Sample(10.1, 201, 1.918, 367, 564, 0.86, 1.694),
    Sample(13.2, 198, 2.803, 388, 779, 1.09, 1.694),
    Sample(16.2, 203, 3.582, 559, 833, 0.53, 1.694),
    Sample(19.2, 203, 3.533, 730, 715, 0.01, 1.694),
)


def observation(sample: Sample, size: int) -> Observation:
    return Observation(
        t_s=sample.t_s,
        executors=1,
        target=size,
        slots_per_executor=1,
        input_rows_per_s=sample.rate,
        lag_rows=sample.lag,
        lag_s=sample.lag / sample.rate,
        batch_s=sample.batch_s,
        batch_rows=sample.batch_rows,
        processed_rows_per_s=sample.batch_rows / sample.batch_s,
        trigger_s=1.0,
        in_flight=InFlight(elapsed_s=sample.running_s),
        stages=(Stage(name="0", rows_in=sample.batch_rows, busy_s=sample.busy_s, tasks=16),),
    )


def requested_sizes(samples: Sequence[Sample]) -> list[int]:
    policy = Predictive(slo=10)
    memory: Memory = {}
    sizes = [1]
    for sample in samples:
        decision, memory = policy.decide(observation(sample, sizes[-1]), memory)
        sizes.append(decision.target)
    return sizes


COMPUTER = SparkParameters(
    executors=1,
    slots_per_executor=DEMO.cores,
    trigger_s=DEMO.trigger_s,
    source_partitions=DEMO.partitions,
    state_partitions=0,
    source_row_s=0.0021,
    source_task_s=0.052,
    fixed_s=0.15,
    cold_s=1.5,
    start_s=5.0,
)
SLOW = replace(COMPUTER, source_row_s=0.0022, fixed_s=0.3, start_s=7.0, cold_s=3.0, usl_sigma=0.03)


def day(policy: str, seed: int, plant: SparkParameters = COMPUTER) -> Run:
    return simulate(
        SparkPlant(plant, replace(cast("Any", DEMO.load), seed=seed), seed=seed),
        create(policy, {}, DEMO.slo),
        guards_of(DEMO.limits, DEMO.guards, DEMO.loop),
        until_s=DEMO.seconds,
        interval_s=DEMO.interval_s,
    )


def test_two_cold_batches_do_not_request_all_executors() -> None:
    assert max(requested_sizes(FIRST_SAMPLES)) <= 2


def test_the_reason_names_too_few_batches() -> None:
    policy = Predictive(slo=10)
    memory: Memory = {}
    reasons = []
    for sample in FIRST_SAMPLES:
        decision, memory = policy.decide(observation(sample, 1), memory)
        reasons.append(decision.reason)
    assert reasons[2].startswith("too few batches to tell whether the batch model is right")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_demo_starts_with_a_size_for_the_night(seed: int) -> None:
    targets = [record.target or 0 for record in day("predictive", seed).records]
    night = round(0.08 * DEMO.seconds / DEMO.interval_s)
    assert max(targets[:night]) <= 2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_demo_day_meets_the_slo_at_lower_cost_than_the_default(seed: int) -> None:
    ours, theirs = (
        measures(day(policy, seed).ledger, DEMO.slo, warm_up_s=15)
        for policy in ("predictive", "measured-throughput")
    )
    assert ours.attained
    assert ours.executor_hours < 0.9 * theirs.executor_hours


def test_the_first_scale_out_covers_the_worst_forecast() -> None:
    young = [record.target or 0 for record in day("predictive", 2).records]
    first = next(i for i, target in enumerate(young) if target > 1)
    assert young[first] >= 3


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 600, 620])
def test_a_steep_day_meets_the_slo_with_slow_executor_starts(seed: int) -> None:
    played = day("predictive", seed, replace(COMPUTER, start_s=10.0))
    assert measures(played.ledger, DEMO.slo, warm_up_s=15).attained


@pytest.mark.parametrize("seed", [717, 723])
def test_a_rise_without_similar_history_is_extrapolated(seed: int) -> None:
    played = day("predictive", seed, SLOW)
    assert measures(played.ledger, DEMO.slo, warm_up_s=15).attained


def test_measured_throughput_decides_until_a_batch_with_rows_is_observed() -> None:
    policy = Predictive(slo=10)
    memory: Memory = {}
    for n in range(8):
        late = Sample(20.0 + 3 * n, 500, 2.4, 650 + n, 2200 + 300 * n, 0.5, 0.3)
        empty = (Stage(name="0", rows_in=0.0, busy_s=0.3, tasks=16),)
        decision, memory = policy.decide(replace(observation(late, 1), stages=empty), memory)
    assert decision.target > 1
    assert decision.reason.startswith("the batch model has no batch yet; lag")
