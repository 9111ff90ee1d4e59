import math

import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.forecasts.chameleon import Chameleon
from rheostat.testing.contracts import follow


def job(t_s: float, rate: float, size: int = 4, slots: int = 1) -> Observation:
    """A row needs a slot for a millisecond, so 1,000 rows/s keep a slot busy."""
    return Observation(
        t_s=t_s,
        executors=size,
        slots_per_executor=slots,
        input_rows_per_s=rate,
        processed_rows_per_s=rate,
        busy=rate / (1000.0 * size * slots),
    )


@pytest.mark.parametrize(
    ("rate", "target"),
    [(2800.0, 4), (3190.0, 4), (3200.0, 5), (6300.0, 8), (2390.0, 3), (700.0, 1), (0.0, 1)],
)
def test_the_size_follows_the_load_only_beyond_the_thresholds(rate, target):
    policy = Chameleon(interval_s=60.0)
    _, memory = policy.decide(job(0.0, 2800.0), {})
    decision, _ = policy.decide(job(60.0, rate), memory)
    assert decision.target == target


def test_the_slots_of_an_executor_share_the_load():
    decision, _ = Chameleon().decide(job(0.0, 6300.0, slots=4), {})
    assert decision.target == 2


def test_the_size_is_kept_between_two_decisions():
    policy = Chameleon(interval_s=60.0)
    _, memory = policy.decide(job(0.0, 2800.0), {})
    decision, _ = policy.decide(job(30.0, 9000.0), memory)
    assert (decision.target, decision.reason) == (4, "between two decisions")


def test_a_known_season_triggers_a_scale_out_in_advance():
    policy = Chameleon(interval_s=60.0, season_s=1200.0, ahead_s=240.0)
    rates = [2000.0 + 1000.0 * (n % 20 >= 10) for n in range(70)]
    script = [job(60.0 * n, rate) for n, rate in enumerate(rates)]
    decisions, _ = follow(policy, script)
    assert decisions[67].evidence["reactive"] == 3  # the load is low until minute 70
    assert decisions[67].target == decisions[67].evidence["proactive"] == 4
    assert "the forecast is trusted" in decisions[67].reason


def test_a_forecast_worse_than_the_last_value_is_not_trusted():
    policy = Chameleon(interval_s=60.0, season_s=240.0, ahead_s=120.0)
    # The configured season is four minutes, but the load changes every five.
    rates = [2000.0 + 1000.0 * ((n // 5) % 2) for n in range(40)]
    decisions, _ = follow(policy, [job(60.0 * n, rate) for n, rate in enumerate(rates)])
    distrusted = [decision for decision in decisions[15:] if "not trusted" in decision.reason]
    assert distrusted
    assert all(decision.target == decision.evidence["reactive"] for decision in distrusted)


def test_the_reactive_decision_can_exceed_a_trusted_forecast():
    policy = Chameleon(interval_s=60.0)
    calm = [job(60.0 * n, 2800.0 + 10 * math.sin(n)) for n in range(30)]
    _, memory = follow(policy, calm)
    decision, _ = policy.decide(job(1800.0, 6000.0), memory)
    assert decision.target >= 8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lower": 0.9}, "lower must be above 0 and below upper, but they are 0.9 and 0.8"),
        ({"ahead_s": 0.0}, "ahead_s must be above 0, but it is 0"),
        ({"season_s": 60.0}, "season_s must be from 4 to 5,000 times interval_s"),
    ],
)
def test_invalid_parameters_are_rejected(given, message):
    with pytest.raises(BadInput, match=message):
        Chameleon(**given)
