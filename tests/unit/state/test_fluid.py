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
def test_moves_fit_half_of_the_slack_but_are_at_least_one(slack_s, load_s, partitions):
    assert partitions_per_batch(slack_s, load_s) == partitions


def test_zero_loads_are_not_limited():
    assert partitions_per_batch(0.5, 0.0) > 100_000


def test_an_oversized_partition_is_reported_with_both_times():
    assert (
        too_big(0.8, 2.04)
        == "one state partition takes 2.0 s to load, a batch has 0.8 s to spare: its move will"
        " delay a batch"
    )
    assert [too_big(1.0, 1.0), too_big(None, 9.0), too_big(1.0, None)] == [None, None, None]


def units(text: str) -> dict[Unit, str]:
    return {("q", n): name for n, name in enumerate(text)}


def moved(now: str, wanted: str, per_executor: int, first: Collection[str] = ()) -> list[int]:
    """Return the partitions to move; a dash means no executor."""
    held = {unit: None if name == "-" else name for unit, name in units(now).items()}
    return [partition for _, partition in next_moves(held, units(wanted), per_executor, first)]


def test_no_executor_exceeds_its_limit_in_a_batch():
    assert moved("aaaaaabbcc", "abbbccbbcc", 2) == [1, 4]
    assert moved("aaaaaaaabbb", "abbbbbbbbbb", 2) == [1, 2]
    assert moved("aaaaaaaabbb", "abbbbbbbbbb", 1) == [1]


def test_a_new_executor_is_filled_gradually():
    held, steps = 0, []
    while held < 24:
        steps.append(ramp(held, 24 - held))
        held += steps[-1]
    assert steps == [1, 1, 2, 4, 6, 4, 2, 2, 1, 1]


def test_loading_in_pauses_fills_a_new_executor_faster():
    held, steps = 0, []
    while held < 24:
        steps.append(ramp(held, 24 - held, in_pause=True))
        held += steps[-1]
    assert steps == [1, 3, 10, 5, 3, 1, 1]


def test_an_established_executor_loads_as_much_as_the_pause_allows():
    held = units("a" * 12)
    assert [len(next_moves(held, units("b" * 12), 6, young=young)) for young in ({"b"}, set())] == [
        1,
        6,
    ]


def test_small_loads_need_no_gradual_filling():
    assert moved("a" * 9, "a" + "b" * 8, 20) == [1, 2, 3, 4, 5]
    assert moved("a" * 9, "a" + "b" * 8, 3) == [1]


def test_partitions_of_leaving_executors_move_first():
    assert moved("aaxx", "bbbb", 1) == [0]
    assert moved("aaxx", "bbbb", 1, first=["x"]) == [2]


def test_unassigned_partitions_move_first_and_all_at_once():
    assert moved("---a", "bbbb", 2) == [0, 1, 2]
    assert moved("-aabb", "bbbbb", 2) == [0]
    assert moved("-aaaaabb", "bbbbbbbb", 2) == [0, 1]


def test_a_complete_assignment_moves_nothing():
    assert moved("abc", "abc", 5) == []
