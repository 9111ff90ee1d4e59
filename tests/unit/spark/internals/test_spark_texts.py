from __future__ import annotations

import pytest

from rheostat.spark.internals.block_managers import hosts_in
from rheostat.spark.internals.coordinator import executor_at, value_of

STATUS = (
    "HashMap(BlockManagerId(10, 10.0.0.7, 40001, None) -> (1,2), BlockManagerId(driver, 127.0.0.1,"
    " 33, None) -> (3,4), BlockManagerId(9, node-b.example, 40002, Some(/rack)) -> (5,6))"
)


def test_executors_are_told_with_their_hosts_the_oldest_first_and_without_the_driver():
    assert list(hosts_in(STATUS).items()) == [("9", "node-b.example"), ("10", "10.0.0.7")]
    assert hosts_in("Map()") == {}


@pytest.mark.parametrize(
    ("place", "executor"), [("executor_127.0.0.1_12", "12"), ("executor_node_b_3", "3")]
)
def test_the_holder_of_a_store_is_told_whatever_its_host_is_called(place, executor):
    assert value_of(f"Some({place})") == place
    assert executor_at(place) == executor


def test_a_store_that_nobody_holds_has_no_place():
    assert value_of("None") is None
