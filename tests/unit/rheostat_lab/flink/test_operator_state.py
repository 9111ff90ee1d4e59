"""Operator state is redistributed as in Flink; the first cases are from its
StateAssignmentOperationTest."""

import pytest

from rheostat.errors import BadInput
from rheostat_lab.flink.key_groups import broadcast, split, union


def test_lists_are_split_into_consecutive_pieces():
    two = [{"t": ["a0", "a10"]}, {"t": ["b0", "b15"]}]
    assert split(two, 3) == [{"t": ["a0", "a10"]}, {"t": ["b0"]}, {"t": ["b15"]}]
    assert split(two, 1) == [{"t": ["a0", "a10", "b0", "b15"]}]


def test_unchanged_parallelism_keeps_every_list_in_place():
    two: list[dict[str, list[int]]] = [{"t": [1, 2, 3]}, {"t": []}]
    assert split(two, 2) == two


def test_the_next_list_starts_after_the_subtasks_with_an_extra_item():
    three: list[dict[str, list[int]]] = [
        {"x": [1], "y": [11], "z": [21]},
        {"x": [2], "y": [12], "z": [22]},
        {},
        {"y": [13]},
    ]
    assert split(three, 3) == [
        {"x": [1], "y": [12], "z": [22]},
        {"x": [2], "y": [13]},
        {"y": [11], "z": [21]},
    ]


def test_many_lists_of_one_item_are_distributed_evenly():
    subtasks = split([{str(n): [n] for n in range(10)}], 5)
    assert [sum(len(items) for items in subtask.values()) for subtask in subtasks] == [
        2,
        2,
        2,
        2,
        2,
    ]


def test_union_gives_every_subtask_all_items():
    assert union([{"t": [0]}, {"t": [22, 44]}], 3) == [{"t": [0, 22, 44]}] * 3


def test_broadcast_reuses_the_old_lists_in_turn():
    old = [{"t": [0, 10, 20]}, {"t": [30, 40, 50]}]
    assert broadcast(old, 3) == [old[0], old[1], old[0]]
    assert broadcast(old, 1) == [old[0]]
    assert broadcast([], 2) == [{}, {}]


@pytest.mark.parametrize("redistribute", [split, union, broadcast])
def test_zero_subtasks_are_rejected(redistribute):
    with pytest.raises(BadInput, match="at least 1, but it is 0"):
        redistribute([{"t": [1]}], 0)
