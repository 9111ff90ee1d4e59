"""With disturbances of a job, ``predictive`` stays within its objective or reports the reason; the
number of rescalings is bounded.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rheostat.guards import standard_guards
from rheostat.model import Limits, Observation, Slo
from rheostat.policies.predictive.policy import Predictive
from rheostat.sim.engine import Run, simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant, Workload
from rheostat_lab.loads.steps import Steps

SLO = Slo(latency_s=30)
MOST_PER_HOUR = 60
"""A scale-in follows any change after at least 60 s (the cooldown), and each one is followed by a
scale-out: at an oscillation, a policy that follows the load needs at least half of that."""


class ModifiedPlant:
    """A plant whose observations are modified before the policy gets them."""

    def __init__(self, plant: SparkPlant, change: Any) -> None:
        self._plant, self._change = plant, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plant, name)

    def observe(self, now: float) -> Sequence[Observation]:
        return [self._change(observation) for observation in self._plant.observe(now)]


def run_job(
    load: Workload, minutes: float, change: Any = None, dearer: bool = False, **given: Any
) -> Run:
    plant: Any = SparkPlant(SparkParameters(executors=8, **given), load, seed=7)
    if dearer:
        once = plant._stages._work
        begun = plant.events

        def work(weights: list[float], task_s: float, row_work_s: float) -> list[float]:
            durations: list[float] = once(
                weights, task_s, row_work_s * (1 + min(1.0, begun.now / 3600))
            )
            return durations

        plant._stages._work = work
    return simulate(
        ModifiedPlant(plant, change) if change else plant,
        Predictive(slo=30),
        standard_guards(Limits(max_executors=16)),
        until_s=60 * minutes,
        interval_s=5,
    )


def attained(run: Run) -> bool:
    result = measures(run.ledger, SLO, warm_up_s=300)
    hours = run.ledger.end_s / 3600
    assert result.rescalings <= MOST_PER_HOUR * hours
    return result.attained


def test_a_doubled_row_cost_within_an_hour_is_compensated() -> None:
    assert attained(run_job(Constant(20_000), 75, dearer=True))


def test_a_skew_of_two_meets_the_objective() -> None:
    assert attained(run_job(Constant(25_000), 40, source_skew=2.0, state_skew=2.0))


def test_growing_state_meets_the_objective() -> None:
    assert attained(run_job(Constant(25_000), 40, state_keys=5e7, state_row_bytes=200.0))


@pytest.mark.parametrize("hold_s", [60.0, 120.0])
def test_a_fast_oscillation_causes_few_rescales(hold_s: float) -> None:
    load = Steps(levels=(15_000.0, 30_000.0), hold_s=hold_s)
    run = run_job(load, 60)
    assert attained(run)
    assert measures(run.ledger, SLO, warm_up_s=1200).rescalings <= 12


def test_a_clock_set_back_by_an_hour_does_not_stop_scaling() -> None:
    def put_back(observation: Observation) -> Observation:
        return (
            replace(observation, t_s=observation.t_s - 3600.0)
            if observation.t_s > 900
            else observation
        )

    policy, memory = Predictive(slo=30), {}  # type: Predictive, Any
    plant = SparkPlant(SparkParameters(executors=2), Constant(30_000), seed=7)
    requested = []
    for n in range(300):
        for observation in plant.observe(5.0 * n):
            decision, memory = policy.decide(put_back(observation), memory)
            plant.rescale(decision, 5.0 * n)
            requested.append(decision.target)
    assert requested[-1] >= 6


def test_without_offsets_the_rows_decide_and_the_reason_names_the_cause() -> None:
    def blind(observation: Observation) -> Observation:
        return replace(observation, lag_rows=None, lag_s=None, lag_rows_upper=None, latency_s=None)

    run = run_job(Steps(levels=(10_000.0, 30_000.0), hold_s=900.0), 60, change=blind)
    assert attained(run)
    assert any(
        "the source reports no offsets" in (record.raw.reason if record.raw else "")
        for record in run.records
    )
    assert len({record.target for record in run.records}) > 2
