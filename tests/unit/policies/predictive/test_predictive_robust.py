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
from rheostat.workloads.workload import Constant, Steps, Workload

SLO = Slo(latency_s=30)
MOST_PER_HOUR = 60
"""A scale-in follows any change after at least 60 s (the cooldown), and each one is followed by a
scale-out: at an oscillation, a policy that follows the load needs at least half of that."""


class Sight:
    """A plant whose observations are modified before the policy gets them."""

    def __init__(self, plant: SparkPlant, change: Any) -> None:
        self._plant, self._change = plant, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plant, name)

    def observe(self, now: float) -> Sequence[Observation]:
        return [self._change(each) for each in self._plant.observe(now)]


def ran(
    load: Workload, minutes: float, change: Any = None, dearer: bool = False, **given: Any
) -> Run:
    plant: Any = SparkPlant(SparkParameters(executors=8, **given), load, seed=7)
    if dearer:
        once = plant._stages._work
        begun = plant.events

        def work(weights: list[float], task_s: float, row_work_s: float) -> list[float]:
            found: list[float] = once(
                weights, task_s, row_work_s * (1 + min(1.0, begun.now / 3600))
            )
            return found

        plant._stages._work = work
    return simulate(
        Sight(plant, change) if change else plant,
        Predictive(slo=30),
        standard_guards(Limits(max_executors=16)),
        until_s=60 * minutes,
        interval_s=5,
    )


def attained(run: Run) -> bool:
    told = measures(run.ledger, SLO, warm_up_s=300)
    hours = run.ledger.end_s / 3600
    assert told.rescalings <= MOST_PER_HOUR * hours
    return told.attained


def test_rows_that_become_twice_as_dear_within_an_hour_are_followed() -> None:
    assert attained(ran(Constant(20_000), 75, dearer=True))


def test_a_skew_of_two_is_borne() -> None:
    assert attained(ran(Constant(25_000), 40, source_skew=2.0, state_skew=2.0))


def test_growing_state_is_borne() -> None:
    assert attained(ran(Constant(25_000), 40, state_keys=5e7, state_row_bytes=200.0))


@pytest.mark.parametrize("hold_s", [60.0, 120.0])
def test_an_oscillation_at_the_pace_of_the_dwell_is_not_chased(hold_s: float) -> None:
    load = Steps(levels=(15_000.0, 30_000.0), hold_s=hold_s)
    run = ran(load, 60)
    assert attained(run)
    assert measures(run.ledger, SLO, warm_up_s=1200).rescalings <= 12


def test_a_clock_that_jumps_an_hour_back_does_not_stop_it() -> None:
    def put_back(seen: Observation) -> Observation:
        return replace(seen, t_s=seen.t_s - 3600.0) if seen.t_s > 900 else seen

    policy, memory = Predictive(slo=30), {}  # type: Predictive, Any
    plant = SparkPlant(SparkParameters(executors=2), Constant(30_000), seed=7)
    asked = []
    for n in range(300):
        for seen in plant.observe(5.0 * n):
            decision, memory = policy.decide(put_back(seen), memory)
            plant.rescale(decision, 5.0 * n)
            asked.append(decision.target)
    assert asked[-1] >= 6


def test_without_offsets_it_follows_the_rows_and_states_that_there_are_none() -> None:
    def blind(seen: Observation) -> Observation:
        return replace(seen, lag_rows=None, lag_s=None, lag_rows_upper=None, latency_s=None)

    run = ran(Steps(levels=(10_000.0, 30_000.0), hold_s=900.0), 60, change=blind)
    assert attained(run)
    assert any(
        "the source reports no offsets" in (each.raw.reason if each.raw else "")
        for each in run.records
    )
    assert len({each.target for each in run.records}) > 2
