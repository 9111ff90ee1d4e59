import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.rules.threshold import Threshold


@pytest.mark.parametrize(
    ("busy", "target"), [(0.0, 2), (0.39, 2), (0.4, 4), (0.8, 4), (0.81, 6), (1.0, 6), (None, 4)]
)
def test_a_crossed_threshold_changes_the_size_by_one_step(busy, target):
    assert (
        Threshold(step=2).decide(Observation(t_s=0.0, executors=4, busy=busy), {})[0].target
        == target
    )


@pytest.mark.parametrize(
    ("busy", "reason"), [(0.9, "above 0.8"), (0.1, "below 0.4"), (0.6, "between the thresholds")]
)
def test_the_reason_names_the_threshold(busy, reason):
    decision, _ = Threshold().decide(Observation(t_s=0.0, executors=4, busy=busy), {})
    assert decision.reason == f"utilization is {busy:.2f}, {reason}"


def test_the_size_never_drops_below_one():
    assert Threshold(step=9).decide(Observation(t_s=0.0, executors=4, busy=0.1), {})[0].target == 1


def test_backpressure_counts_as_utilization_if_configured():
    blocked = Observation(t_s=0.0, executors=4, busy=0.5, idle=0.1, backpressure_ms_per_s=400.0)
    assert [
        Threshold(utilization=which).decide(blocked, {})[0].target for which in ("varga", "koper")
    ] == [4, 5]


@pytest.mark.parametrize(
    "given", [{"low": 0.9}, {"high": 1.5}, {"low": -0.5}, {"step": 0}, {"utilization": "mine"}]
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        Threshold(**given)
