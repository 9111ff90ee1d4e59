import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.rules.fixed import Fixed
from rheostat.testing.contracts import follow


def test_the_configured_size_is_always_requested():
    script = [Observation(t_s=5.0 * n, executors=n, lag_s=float(n)) for n in range(9)]
    assert {decision.target for decision in follow(Fixed(executors=5), script)[0]} == {5}


def test_without_a_configured_size_the_first_observed_one_is_kept():
    script = [Observation(t_s=5.0 * n, executors=3 + n) for n in range(9)]
    assert {decision.target for decision in follow(Fixed(), script)[0]} == {3}


def test_a_negative_size_is_rejected():
    with pytest.raises(BadInput, match="-1"):
        Fixed(executors=-1)
