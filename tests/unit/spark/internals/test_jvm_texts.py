from __future__ import annotations

import pytest

from rheostat.spark.internals.jvm import executor_in, hosts_in

STATUS = (
    "HashMap(BlockManagerId(10, 10.0.0.7, 40001, None) -> (1,2), BlockManagerId(driver, 127.0.0.1,"
    " 33, None) -> (3,4), BlockManagerId(9, node-b.example, 40002, Some(/rack)) -> (5,6))"
)


def test_executors_are_told_with_their_hosts_the_oldest_first_and_without_the_driver():
    assert list(hosts_in(STATUS).items()) == [("9", "node-b.example"), ("10", "10.0.0.7")]
    assert hosts_in("Map()") == {}


@pytest.mark.parametrize(
    ("text", "executor"),
    [("Some(executor_127.0.0.1_12)", "12"), ("Some(executor_node_b_3)", "3"), ("None", None)],
)
def test_the_holder_of_a_store_is_told_whatever_its_host_is_called(text, executor):
    assert executor_in(text) == executor
