"""Where changes of size cost more than they save, a day shows it, and from then on a fixed size
decides.
"""

import pytest

from rheostat.guards import standard_guards
from rheostat.model import Limits
from rheostat.policies.forecasts.predictive import Predictive
from rheostat.sim.engine import Run, simulate
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.workloads.bursts import Bursts

DAY_S = 86_400.0
CHANGE = 800.0
"""What a change of size costs, in slot-seconds."""


def cost_of_day(run: Run, day: int) -> float:
    paid, targets = run.ledger.paid, run.ledger.targets
    changes = targets.changes(day * DAY_S) - targets.changes((day + 1) * DAY_S)
    return paid.integral(day * DAY_S, (day + 1) * DAY_S) + CHANGE * changes


@pytest.mark.thorough
def test_short_bursts_are_met_by_a_fixed_size_after_a_day_of_changes_that_cost_more() -> None:
    load = Bursts(quiet=3000, burst=9000, quiet_s=1200, burst_s=60, seed=11)
    run = simulate(
        SparkPlant(SparkParameters(executors=2, trigger_s=30, start_s=3), load, seed=11),
        Predictive(slo=90, rescale_cost=CHANGE),
        standard_guards(Limits(max_executors=8)),
        until_s=4 * DAY_S,
        interval_s=30,
    )
    later = [each for each in run.records if each.t_s > 1.1 * DAY_S and each.raw]
    assert all("by the model: it decides" in each.raw.reason for each in later if each.raw)
    assert {each.target for each in later} == {2}
    assert cost_of_day(run, 0) > 1.5 * 2 * DAY_S
    for day in (1, 2, 3):
        assert cost_of_day(run, day) < 1.03 * 2 * DAY_S
