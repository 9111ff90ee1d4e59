import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.protocols.receivers.receivers import (
    may_go,
    rebalanced,
    receivers_for,
    resized,
    without,
)

CORES = 4


def test_five_executors_with_a_receiver_each_go_down_to_two_with_three_and_two():
    allocation = [1, 1, 1, 1, 1]
    while may_go(allocation, len(allocation) - 1, CORES):
        allocation = without(allocation, len(allocation) - 1, CORES)
    assert allocation == [3, 2]


def test_an_executor_that_comes_gets_a_receiver_and_then_all_is_stable():
    assert rebalanced([3, 2, 0]) == [2, 2, 1]
    assert rebalanced([2, 2, 1]) == [2, 2, 1]


@pytest.mark.parametrize(
    ("allocation", "cores", "may"),
    [
        ([3, 2], 4, False),
        ([3, 2], 5, True),
        ([2, 2, 1], 4, True),
        ([4, 4, 1], 4, False),
        ([4, 4, 0], 4, True),
        ([1], 4, False),
    ],
)
def test_an_executor_may_go_if_the_cores_that_remain_hold_all_receivers(allocation, cores, may):
    assert may_go(allocation, 0, cores) is may


def test_an_executor_that_may_not_go_is_named():
    with pytest.raises(BadInput, match="executor 1 may not go"):
        without([3, 2], 1, CORES)


@pytest.mark.parametrize(
    ("rate", "ceiling", "share", "receivers"),
    [
        (0.0, 100.0, 1.0, 1),
        (100.0, 100.0, 1.0, 1),
        (101.0, 100.0, 1.0, 2),
        (1000.0, 100.0, 0.8, 13),
    ],
)
def test_receivers_follow_the_rate(rate, ceiling, share, receivers):
    assert receivers_for(rate, ceiling, share) == receivers


@pytest.mark.parametrize("given", [(-1.0, 1.0), (1.0, 0.0), (float("inf"), 1.0), (1.0, 1.0, 0.0)])
def test_a_nonsense_rate_ceiling_or_share_is_refused(given):
    with pytest.raises(BadInput, match="must be"):
        receivers_for(*given)


def test_more_receivers_than_cores_and_a_full_executor_beyond_its_cores_are_refused():
    with pytest.raises(BadInput, match="9 receivers do not fit on 2"):
        resized([1, 1], 9, CORES)
    with pytest.raises(BadInput, match="5, 1"):
        may_go([5, 1], 0, CORES)


def test_a_number_of_receivers_is_reached_from_the_least_and_the_most_loaded():
    assert resized([3, 1, 0], 6, CORES) == [3, 2, 1]
    assert resized([3, 1, 0], 2, CORES) == [1, 1, 0]


allocations = st.lists(st.integers(0, CORES), min_size=1, max_size=12)


@given(allocations)
def test_rebalancing_keeps_every_receiver_ends_and_leaves_nobody_one_above_the_mean(allocation):
    after = allocation
    for _ in range(sum(allocation) + 1):
        after = rebalanced(after)
    assert rebalanced(after) == after
    assert sum(after) == sum(allocation)
    assert len(after) == 1 or max(after) < 1 + sum(after) / len(after)


@given(allocations, st.data())
def test_removal_keeps_every_receiver_and_no_core_holds_two(allocation, data):
    executor = data.draw(st.integers(0, len(allocation) - 1))
    if may_go(allocation, executor, CORES):
        after = without(allocation, executor, CORES)
        assert (sum(after), len(after)) == (sum(allocation), len(allocation) - 1)
        assert max(after, default=0) <= CORES
    else:
        assert sum(allocation) > (len(allocation) - 1) * CORES
