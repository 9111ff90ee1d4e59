"""The Spark plant without noise matches the batch model, whose steady states are known."""

import numpy as np
import pytest

from rheostat.guards import standard_guards
from rheostat.model import Limits, Slo
from rheostat.policies.rules.fixed import Fixed
from rheostat.sim.engine import simulate
from rheostat.sim.measures import measures
from rheostat.sim.plant import Ledger
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant
from rheostat_lab.sweep.batch_capacity import capacity_rows_per_s
from rheostat_lab.sweep.plant_parameters import spark_parameters

CALM = {"task_noise": 0.0, "batch_noise": 0.0}


def run(
    rate: float, until_s: float = 1200.0, poisson: bool = False, **given: float
) -> tuple[SparkPlant, Ledger]:
    plant = SparkPlant(spark_parameters({**CALM, **given}), Constant(rate), seed=2, poisson=poisson)
    guards = standard_guards(Limits.between(1, 64))
    return plant, simulate(plant, Fixed(), guards, until_s=until_s, interval_s=60.0).ledger


def steady_s(job: SparkParameters, rate_per_s: float, slots: int) -> float:
    """Return the least fixed point of T = T(rate x max(interval, T)): a batch reads what arrived
    since the start of the previous one.
    """
    batch_s = 0.0
    for _ in range(1000):
        batch_s = job.model.batch_s(rate_per_s * max(job.trigger_s, batch_s), slots)
    return batch_s


@pytest.mark.parametrize("executors", [1, 2, 5, 24, 30])
def test_batches_match_the_model_with_a_trigger_interval(executors: int) -> None:
    plant, ledger = run(4_000.0, executors=executors)
    expected_s = steady_s(plant.p, 4_000.0, executors)
    assert plant.last is not None
    assert plant.last.batch_s == pytest.approx(expected_s, rel=1e-6)
    result = measures(ledger, Slo(latency_s=60.0), warm_up_s=100.0)
    assert result.latency_mean_s == pytest.approx(
        5.0 + expected_s, rel=1e-3
    )  # half an interval plus the batch
    assert result.latency_p99_s == pytest.approx(10.0 + expected_s, rel=0.1)


@pytest.mark.parametrize("executors", [3, 8])
def test_back_to_back_batches_converge_to_the_fixed_point(executors: int) -> None:
    plant, ledger = run(9_000.0, executors=executors, trigger_s=0.0)
    expected_s = steady_s(plant.p, 9_000.0, executors)
    assert plant.last is not None
    assert plant.last.batch_s == pytest.approx(expected_s, rel=1e-3)
    result = measures(ledger, Slo(latency_s=60.0), warm_up_s=300.0)
    assert result.latency_mean_s == pytest.approx(1.5 * expected_s, rel=1e-3)


def test_a_batch_longer_than_its_interval_is_followed_immediately() -> None:
    plant, _ = run(9_000.0, executors=2, trigger_s=2.0)
    expected_s = steady_s(plant.p, 9_000.0, 2)
    assert plant.last is not None
    assert plant.last.batch_s == pytest.approx(expected_s, rel=1e-2)
    assert plant.last.batch_s > 2.0


@pytest.mark.parametrize(("share", "grows"), [(0.95, False), (1.05, True)])
def test_lag_grows_above_the_capacity_of_the_model(share: float, grows: bool) -> None:
    plant = spark_parameters({**CALM, "executors": 4})
    rate = share * capacity_rows_per_s(plant.model, 4, plant.trigger_s, plant.max_rows)
    _, ledger = run(rate, until_s=20_000.0, executors=4)
    half = (
        ledger.lag_rows[ledger.lag_t_s < 10_000].max(),
        ledger.lag_rows[ledger.lag_t_s > 15_000].max(),
    )
    assert bool(half[1] > 1.3 * half[0]) is grows


def test_a_row_limit_bounds_the_throughput() -> None:
    plant, ledger = run(5_000.0, executors=8, max_rows=20_000.0)
    assert capacity_rows_per_s(plant.p.model, 8, plant.p.trigger_s, plant.p.max_rows) == 2_000.0
    assert ledger.committed_rows / 1200.0 == pytest.approx(2_000.0, rel=0.02)


def test_more_slots_than_kafka_partitions_do_not_speed_up_the_source() -> None:
    at = {
        executors: run(
            30_000.0, until_s=300.0, executors=executors, source_partitions=6, state_partitions=0
        )[0]
        for executors in (6, 12)
    }
    assert at[6].last
    assert at[12].last
    assert at[6].last.batch_s == pytest.approx(at[12].last.batch_s, rel=1e-9)


@pytest.mark.parametrize("poisson", [False, True])
def test_littles_law_holds_for_rows_exactly(poisson: bool) -> None:
    plant, ledger = run(3_000.0, poisson=poisson, executors=3, task_noise=0.3, batch_noise=0.3)
    t_s, arrived = plant.arrivals.curve(ledger.end_s)
    arrived_area = float((np.diff(t_s) * (arrived[1:] + arrived[:-1]) / 2).sum())
    committed_area = float(ledger.rows @ (ledger.end_s - ledger.commit_s))
    waited = float(ledger.latency_s @ ledger.rows + ledger.left_age_s @ ledger.left_rows)
    assert arrived_area - committed_area == pytest.approx(waited, rel=1e-9)


def test_littles_law_holds_for_the_observations_of_the_loop() -> None:
    plant = SparkPlant(SparkParameters(executors=3), Constant(3_000.0), seed=2)
    simulated = simulate(
        plant, Fixed(), standard_guards(Limits.between(1, 64)), until_s=1_000.0, interval_s=0.5
    )
    lags = [
        record.observation.lag_rows
        for record in simulated.records
        if record.observation and record.observation.lag_rows is not None
    ]
    latency_s = measures(simulated.ledger, Slo()).latency_mean_s
    assert latency_s is not None
    assert sum(lags) / len(lags) == pytest.approx(3_000.0 * latency_s, rel=0.02)


def test_arrived_rows_are_committed_or_waiting() -> None:
    _, ledger = run(3_000.0, poisson=True, executors=1)
    assert ledger.arrived_rows == pytest.approx(ledger.committed_rows + ledger.lag_rows[-1])
    assert ledger.rows.sum() == pytest.approx(ledger.committed_rows)
    assert ledger.left_rows.sum() == pytest.approx(ledger.lag_rows[-1])
