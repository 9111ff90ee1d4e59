"""The model of the bounds, the rollout of ``predictive`` and the plant represent the same job."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

import pytest

from rheostat.capacity.rollout import Arrivals, Backlog, rollout
from rheostat.guards import Bounds as WithinLimits
from rheostat.model import Decision, Limits, Memory, Observation, Slo
from rheostat.policies.registry import create
from rheostat.sim.engine import NoJournal, simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.bounds.bounded_job import curve_of
from rheostat_lab.bounds.scoring import bounds, job_of, run_static
from rheostat_lab.loads.cosine import Cosine

QUIET = SparkParameters(
    executors=6,
    trigger_s=10.0,
    task_noise=0.0,
    batch_noise=0.0,
    start_noise=0.0,
    start_s=20.0,
    concurrent_start_s=0.0,
    leave_s=0.0,
    cold_s=0.0,
    cold_state_s=0.0,
    load_s=0.0,
)
LOAD = Cosine(shift=15_000, amplitude=10_000, noise=500, period_s=1800)
SECONDS, LIMITS, SLO = 3600.0, Limits.between(1, 8), Slo(latency_s=18)


@dataclass(frozen=True)
class Planned:
    """A policy that follows a plan: targets with their start times."""

    times_s: tuple[float, ...]
    targets: tuple[int, ...]

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        place = bisect_right(self.times_s, observation.t_s + 1e-6) - 1
        return Decision(target=self.targets[max(0, place)], reason="planned"), memory


@pytest.mark.parametrize("executors", [3, 4, 5, 6, 7])
def test_late_rows_of_a_fixed_size_lie_between_the_models_roundings(
    executors: int,
) -> None:
    job, curve = job_of(QUIET, limits=LIMITS, slo=SLO), curve_of(LOAD, SECONDS, 2.5)
    kind, fair = (run_static(job, curve, executors, kindly=kindly) for kindly in (True, False))
    plant = SparkPlant(replace(QUIET, executors=executors), LOAD)
    done = simulate(plant, create("fixed"), (), until_s=SECONDS, interval_s=60, journal=NoJournal())
    result = measures(done.ledger, SLO)
    assert result.within is not None
    assert kind.late_share - 0.01 <= 1 - result.within <= fair.late_share + 0.01
    assert result.executor_hours * 3600 == pytest.approx(fair.cost)


@pytest.mark.parametrize("executors", [3, 5, 6])
def test_the_rollout_predicts_the_late_rows_of_the_plant(executors: int) -> None:
    seconds, before = 1200.0, Backlog(rows=0.0, since_s=0.0, begins_s=QUIET.trigger_s)
    path = [(10.0 * n, LOAD.rate_per_s(10.0 * n)) for n in range(121)]
    predicted = rollout(
        Arrivals(before, path),
        [(0.0, QUIET.model.at(executors), 0.0)],
        trigger_s=QUIET.trigger_s,
        slo_s=SLO.latency_s,
        until_s=seconds,
    )
    plant = SparkPlant(replace(QUIET, executors=executors), LOAD)
    done = simulate(plant, create("fixed"), (), until_s=seconds, interval_s=60, journal=NoJournal())
    within = measures(done.ledger, SLO).within
    assert within is not None
    assert predicted.late_share == pytest.approx(1 - within, abs=0.015)


def test_the_clairvoyant_path_meets_the_objective_at_its_predicted_cost() -> None:
    computed = bounds(job_of(QUIET, limits=LIMITS, slo=SLO), LOAD, SECONDS, initial=6)
    path = computed.clairvoyant.path
    assert path is not None
    sizes = [6, *(int(size) for size in path.executors)]
    changes = [
        (float(t_s), before, after)
        for t_s, before, after in zip(path.start_s, sizes, sizes[1:], strict=False)
        if before != after
    ]
    requested = sorted(
        (t_s - (QUIET.start_s + 0.5 if after > before else 0.0), after)
        for t_s, before, after in changes
    )
    policy = Planned((0.0, *(t_s for t_s, _ in requested)), (6, *(after for _, after in requested)))
    plant = SparkPlant(QUIET, LOAD)
    done = simulate(
        plant, policy, (WithinLimits(LIMITS),), until_s=SECONDS, interval_s=1.0, journal=NoJournal()
    )
    result = measures(done.ledger, SLO)
    assert result.within is not None
    assert result.within > 0.98
    assert result.executor_hours * 3600 == pytest.approx(path.cost, rel=0.03)
    assert computed.static_cost is not None
    assert result.executor_hours * 3600 < 0.85 * computed.static_cost
