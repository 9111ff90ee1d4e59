"""Unprecedented loads: ``predictive`` uses a configured peak, or the initial size as a hint, if
executors take longer to start than the objective allows.
"""

from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.guards import standard_guards
from rheostat.model import Limits, Slo
from rheostat.policies.predictive.policy import Predictive
from rheostat.sim.engine import Run, simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.steps import Steps

SLO = Slo(latency_s=30)


def run_jump(after_s: float, executors: int = 8, **given: Any) -> Run:
    """Return a job whose rate rises sixfold for the first time; executors start in 60 s."""
    plant = SparkParameters(executors=executors, start_s=60)
    return simulate(
        SparkPlant(plant, Steps(levels=(5000, 30_000), hold_s=after_s), seed=3),
        Predictive(slo=30, **given),
        standard_guards(Limits(max_executors=16)),
        until_s=after_s + 1200,
        interval_s=5,
    )


def attained(run: Run) -> bool:
    return measures(run.ledger, SLO, warm_up_s=300).attained


@pytest.mark.parametrize("executors", [1, 8])
def test_a_first_jump_to_the_configured_peak_meets_the_objective(executors: int) -> None:
    assert attained(run_jump(1800, executors, peak=30_000))
    assert not attained(run_jump(1800, executors))


def test_the_reserve_for_a_peak_is_at_most_the_peak_size() -> None:
    sizes = [record.target or 0 for record in run_jump(1800, peak=30_000).records]
    before, after = sizes[240:340], sizes[-100:]
    assert max(before) <= min(after)


def test_the_initial_size_is_reduced_as_the_load_becomes_known() -> None:
    began_with_8, began_with_1 = (
        [record.target or 0 for record in run_jump(3600, executors).records] for executors in (8, 1)
    )
    assert set(began_with_8[:9]) == {8}  # the model has predicted fewer than five batches
    assert began_with_8[60] > began_with_1[60]
    assert began_with_8[60] > began_with_8[240] > began_with_8[700]


def test_a_negative_peak_is_rejected() -> None:
    with pytest.raises(BadInput, match="peak must be 0 or more rows/s, but it is -1"):
        Predictive(peak=-1)
