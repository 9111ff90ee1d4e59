import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.rules.fixed import Fixed
from rheostat.testing.contracts import follow


def test_the_size_given_stands_whatever_happens():
    script = [Observation(t_s=5.0 * n, executors=n, lag_s=float(n)) for n in range(9)]
    assert {decision.target for decision in follow(Fixed(executors=5), script)[0]} == {5}


def test_without_one_the_size_that_was_found_first_stands():
    script = [Observation(t_s=5.0 * n, executors=3 + n) for n in range(9)]
    assert {decision.target for decision in follow(Fixed(), script)[0]} == {3}


def test_a_negative_size_is_refused():
    with pytest.raises(BadInput, match="-1"):
        Fixed(executors=-1)
