from __future__ import annotations

import pytest

from rheostat.spark.internals.block_managers import hosts_in
from rheostat.spark.internals.coordinator import executor_at, value_of

STATUS = (
    "HashMap(BlockManagerId(10, 10.0.0.7, 40001, None) -> (1,2), BlockManagerId(driver, 127.0.0.1,"
    " 33, None) -> (3,4), BlockManagerId(9, node-b.example, 40002, Some(/rack)) -> (5,6))"
)


def test_executors_are_listed_oldest_first_with_hosts_and_without_the_driver():
    assert list(hosts_in(STATUS).items()) == [("9", "node-b.example"), ("10", "10.0.0.7")]
    assert hosts_in("Map()") == {}


@pytest.mark.parametrize(
    ("place", "executor"), [("executor_127.0.0.1_12", "12"), ("executor_node_b_3", "3")]
)
def test_the_executor_of_a_store_is_parsed_for_any_host_name(place, executor):
    assert value_of(f"Some({place})") == place
    assert executor_at(place) == executor


def test_a_store_without_a_holder_has_no_location():
    assert value_of("None") is None
