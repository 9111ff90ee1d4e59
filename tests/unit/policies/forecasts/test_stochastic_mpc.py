from typing import Any

import numpy as np
import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.forecasts.stochastic_mpc import StochasticMpc, scenarios
from rheostat.testing.contracts import follow


def job(t_s: float, rate: float, size: int = 4, lag_rows: float = 0.0) -> Observation:
    """A thousand rows per second keep an executor busy."""
    return Observation(
        t_s=t_s,
        executors=size,
        input_rows_per_s=rate,
        processed_rows_per_s=rate,
        busy=rate / (1000.0 * size),
        lag_rows=lag_rows,
        trigger_s=1.0,
        batch_s=0.5,
    )


def decided_target(observation: Observation, **given: Any) -> int:
    return StochasticMpc(**given).decide(observation, {})[0].target


def test_a_constant_load_gets_the_smallest_sufficient_size():
    assert decided_target(job(0.0, 3500.0)) == 4
    assert decided_target(job(0.0, 1700.0)) == 2
    assert decided_target(job(0.0, 7100.0)) == 8


def test_a_backlog_adds_executors_in_proportion_to_the_late_price():
    cheap = decided_target(job(0.0, 3500.0, lag_rows=60_000.0), late_price=1.0)
    dear = decided_target(job(0.0, 3500.0, lag_rows=60_000.0), late_price=500.0)
    assert 4 <= cheap < dear


def test_the_rescale_cost_keeps_one_surplus_executor():
    assert decided_target(job(0.0, 2600.0), rescale_cost=1000.0) == 4
    assert decided_target(job(0.0, 2600.0), rescale_cost=0.0) == 3


def test_past_bursts_keep_spare_executors():
    calm = [job(15.0 * n, 1000.0, size=2) for n in range(80)]
    bursts = [job(15.0 * n, 8000.0 if n % 10 in (4, 5) else 1000.0, size=2) for n in range(80)]
    policy = StochasticMpc(late_price=200.0)
    after_calm = follow(policy, [*calm, job(1200.0, 1000.0, size=2)])[0][-1]
    after_bursts = follow(policy, [*bursts, job(1200.0, 1000.0, size=2)])[0][-1]
    assert after_calm.target == 2
    assert after_bursts.target > 4


def test_scenarios_are_ratios_that_followed_earlier_moments():
    result = scenarios([1.0, 2.0, 4.0, 8.0], 2)
    assert result.tolist() == [[1.0, 1.0], [2.0, 4.0], [2.0, 4.0]]
    assert scenarios([], 3).tolist() == [[1.0, 1.0, 1.0]]
    assert np.isfinite(scenarios([0.0, 0.0, 5.0, 0.0, 1.0], 2)).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"slo": 0.0}, "slo must be above 0, but it is 0"),
        ({"late_price": -1.0}, "late_price must be at least 0, but it is -1"),
        ({"steps": 1}, "steps must be at least 2 and at most 100, but it is 1"),
    ],
)
def test_invalid_parameters_are_rejected(given, message):
    with pytest.raises(BadInput, match=message):
        StochasticMpc(**given)
