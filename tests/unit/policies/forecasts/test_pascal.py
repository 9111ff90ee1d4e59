import math

import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.forecasts.pascal import Pascal
from rheostat.testing.contracts import follow


def job(t_s: float, rate: float, size: int = 4, fixed_slots: float = 0.0) -> Observation:
    """A thousand rows per second keep a slot busy; ``fixed_slots`` are always busy."""
    return Observation(
        t_s=t_s,
        executors=size,
        input_rows_per_s=rate,
        processed_rows_per_s=rate,
        busy=(fixed_slots + rate / 1000.0) / size,
    )


@pytest.mark.parametrize(("rate", "target"), [(3000.0, 4), (3300.0, 5), (8000.0, 10), (100.0, 1)])
def test_without_a_forecast_the_current_load_decides(rate, target):
    decision, _ = Pascal().decide(job(0.0, rate), {})
    assert decision.target == target
    assert "no forecast yet" in decision.reason


def test_a_profile_with_a_fixed_cost_is_linear():
    script = [job(15.0 * n, rate, fixed_slots=1.0) for n, rate in enumerate((1000.0, 3000.0) * 5)]
    policy = Pascal(cpu_max=0.5)
    _, memory = follow(policy, script)
    decision, _ = policy.decide(job(150.0, 6000.0, fixed_slots=1.0), memory)
    assert decision.evidence["slots"] == pytest.approx(14.0)  # (1 + 6) / 0.5


def test_a_recurring_load_triggers_a_scale_out_in_advance():
    policy = Pascal(interval_s=60.0, ahead_s=300.0, season_s=3600.0)
    rates = [3000 - 2000 * math.cos(2 * math.pi * n / 60) for n in range(60 * 6)]
    script = [job(60.0 * n, rate) for n, rate in enumerate(rates)]
    decisions, _ = follow(policy, script)
    climbing = 60 * 5 + 10  # ten minutes past the trough
    needed = math.ceil(max(rates[climbing : climbing + 5]) / 1000 / 0.8)
    alone = math.ceil(rates[climbing] / 1000 / 0.8)
    assert alone < decisions[climbing].target
    assert abs(decisions[climbing].target - needed) <= 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cpu_max": 0.0}, "cpu_max must be above 0, but it is 0"),
        ({"ahead_s": 5.0}, "ahead_s must be from 1 to 100 times interval_s, but they are 5.0"),
    ],
)
def test_invalid_parameters_are_rejected(given, message):
    with pytest.raises(BadInput, match=message):
        Pascal(**given)
