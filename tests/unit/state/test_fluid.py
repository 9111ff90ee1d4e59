"""Moves in steps that fit into the slack of a batch."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from rheostat.state.assignment import Unit
from rheostat.state.fluid import next_moves, partitions_per_batch, ramp, too_big


@pytest.mark.parametrize(
    ("slack_s", "load_s", "partitions"),
    [
        (2.0, 0.3, 3),
        (1.0, 1.0, 1),
        (0.1, 0.5, 1),
        (-2.0, 0.5, 1),
        (None, 0.5, 1),
        (1.0, None, 1),
        (0.0, 0.0, 1),
    ],
)
def test_as_many_as_fit_half_of_the_slack_and_at_least_one(slack_s, load_s, partitions):
    assert partitions_per_batch(slack_s, load_s) == partitions


def test_loads_of_nothing_are_not_limited():
    assert partitions_per_batch(0.5, 0.0) > 100_000


def test_a_partition_that_does_not_fit_is_said_with_both_times():
    assert (
        too_big(0.8, 2.04)
        == "one state partition takes 2.0 s to load, a batch has 0.8 s to spare: its move will be"
        " felt"
    )
    assert [too_big(1.0, 1.0), too_big(None, 9.0), too_big(1.0, None)] == [None, None, None]


def units(text: str) -> dict[Unit, str]:
    return {("q", n): name for n, name in enumerate(text)}


def moved(now: str, wanted: str, per_executor: int, first: Collection[str] = ()) -> list[int]:
    """Return the partitions to move; a dash means no executor."""
    held = {unit: None if name == "-" else name for unit, name in units(now).items()}
    return [partition for _, partition in next_moves(held, units(wanted), per_executor, first)]


def test_no_executor_gets_more_than_its_limit_in_a_batch():
    assert moved("aaaaaabbcc", "abbbccbbcc", 2) == [1, 4]
    assert moved("aaaaaaaabbb", "abbbbbbbbbb", 2) == [1, 2]
    assert moved("aaaaaaaabbb", "abbbbbbbbbb", 1) == [1]


def test_a_new_executor_is_filled_on_a_ramp():
    held, steps = 0, []
    while held < 24:
        steps.append(ramp(held, 24 - held))
        held += steps[-1]
    assert steps == [1, 1, 2, 4, 6, 4, 2, 2, 1, 1]


def test_what_is_loaded_in_pauses_fills_it_more_steeply():
    held, steps = 0, []
    while held < 24:
        steps.append(ramp(held, 24 - held, in_pause=True))
        held += steps[-1]
    assert steps == [1, 3, 10, 5, 3, 1, 1]


def test_what_is_loaded_in_pauses_comes_to_an_executor_that_is_not_young_as_the_pause_has_room():
    held = units("a" * 12)
    assert [len(next_moves(held, units("b" * 12), 6, young=young)) for young in ({"b"}, set())] == [
        1,
        6,
    ]


def test_loads_that_take_a_small_part_of_the_slack_need_no_ramp():
    assert moved("a" * 9, "a" + "b" * 8, 20) == [1, 2, 3, 4, 5]
    assert moved("a" * 9, "a" + "b" * 8, 3) == [1]


def test_units_of_those_that_leave_go_before_others():
    assert moved("aaxx", "bbbb", 1) == [0]
    assert moved("aaxx", "bbbb", 1, first=["x"]) == [2]


def test_units_that_nobody_holds_go_all_at_once_and_others_wait_for_them():
    assert moved("---a", "bbbb", 2) == [0, 1, 2]
    assert moved("-aabb", "bbbbb", 2) == [0]
    assert moved("-aaaaabb", "bbbbbbbb", 2) == [0, 1]


def test_where_everything_is_in_its_place_nothing_moves():
    assert moved("abc", "abc", 5) == []
