import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.protocols.receivers.fleet_size import receivers_for
from rheostat.protocols.receivers.receiver_moves import rebalanced


def test_a_new_executor_gets_a_receiver_and_the_allocation_is_stable():
    assert rebalanced([3, 2, 0]) == [2, 2, 1]
    assert rebalanced([2, 2, 1]) == [2, 2, 1]


@pytest.mark.parametrize(
    ("rate", "capacity", "share", "receivers"),
    [
        (0.0, 100.0, 1.0, 1),
        (100.0, 100.0, 1.0, 1),
        (101.0, 100.0, 1.0, 2),
        (1000.0, 100.0, 0.8, 13),
    ],
)
def test_receivers_follow_the_rate(rate, capacity, share, receivers):
    assert receivers_for(rate, capacity, share) == receivers


@pytest.mark.parametrize(
    "arguments", [(-1.0, 1.0), (1.0, 0.0), (float("inf"), 1.0), (1.0, 1.0, 0.0)]
)
def test_an_invalid_rate_capacity_or_share_is_rejected(arguments):
    with pytest.raises(BadInput, match="must be"):
        receivers_for(*arguments)


allocations = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@given(allocations)
def test_rebalancing_keeps_every_receiver_and_converges_near_the_mean(allocation):
    after = allocation
    for _ in range(sum(allocation) + 1):
        after = rebalanced(after)
    assert rebalanced(after) == after
    assert sum(after) == sum(allocation)
    assert len(after) == 1 or max(after) < 1 + sum(after) / len(after)
