"""The estimated backlog, and the detection of a row limit, which more executors cannot lift."""

import re

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.guards import standard_guards
from rheostat.model import InFlight, Limits, Observation
from rheostat.policies.predictive.learning import rows_limit
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.predictive.situation import waiting
from rheostat.sim.engine import simulate
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant

MODEL = BatchModel(0.5, (StageCost(tasks=24, row_s=0.001),))


def observation(elapsed_s: float, lag: float | None, batch_rows: int = 4000) -> Observation:
    return Observation(
        t_s=100.0,
        executors=4,
        lag_rows=lag,
        batch_s=1.5,
        batch_rows=batch_rows,
        trigger_s=2.0,
        in_flight=InFlight(elapsed_s=elapsed_s, rows=4000),
    )


def test_without_offsets_the_backlog_is_estimated_from_arrivals() -> None:
    assert waiting(observation(1.0, None), MODEL, 2000.0, 1.0).rows == 2000
    assert waiting(observation(1.0, 7000.0), MODEL, 2000.0, 1.0).rows == 3000


def test_the_oldest_row_dates_from_the_previous_batch_start() -> None:
    assert waiting(observation(1.0, 7000.0), MODEL, 2000.0, 1.0).oldest_s == -3.0


def test_a_row_limit_is_detected_from_a_large_remaining_backlog() -> None:
    assert rows_limit(observation(1.0, 50_000.0)) == 4000
    assert rows_limit(observation(1.0, 7000.0)) is None
    assert rows_limit(observation(1.0, 50_000.0, batch_rows=3000)) is None


def test_a_binding_row_limit_prevents_useless_scale_outs() -> None:
    plant = SparkPlant(SparkParameters(executors=4, max_rows=50_000), Constant(15_000), seed=3)
    run = simulate(
        plant,
        Predictive(slo=30),
        standard_guards(Limits(max_executors=16)),
        until_s=1200,
        interval_s=5,
    )
    last = run.records[-1]
    assert last.raw is not None
    assert "the limit of 50000 rows a batch binds" in last.raw.reason
    assert re.search(r"set maxOffsetsPerTrigger to 190,000 and allow \d+ exec", last.raw.reason)
    assert last.target is not None
    assert last.target <= 6
