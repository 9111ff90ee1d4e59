"""What starts have cost: looks are moments, and what happened between two of them is not known."""

import json
from typing import Any

import pytest

from rheostat.capacity.rescale_cost import rescale_cost, with_sight


def started(takes_s: float, tick_s: float, times: int = 6) -> dict[str, Any]:
    """One executor more each time, seen every ``tick_s``."""
    known: dict[str, Any] = with_sight({}, 0.0, 1, 1)
    t_s, size = 0.0, 1
    for _ in range(times):
        asked_s, size = t_s, size + 1
        while known["executors"] < size:
            t_s += tick_s
            there = size if t_s - asked_s >= takes_s else size - 1
            known = with_sight(json.loads(json.dumps(known)), t_s, size, there)
    return known


@pytest.mark.parametrize("tick_s", [3.0, 5.0, 15.0])
def test_a_start_is_told_as_near_as_the_looks_allow(tick_s: float) -> None:
    cost = rescale_cost(started(10.0, tick_s))
    assert 7.0 <= cost.start_s <= 10.0 + tick_s


def test_executors_that_come_before_the_next_look_teach_that_they_are_fast() -> None:
    cost = rescale_cost(started(2.0, 5.0))
    assert cost.start_s <= 6.0
    assert cost.spread < 0.3


def test_looks_that_are_far_apart_do_not_make_starts_uncertain() -> None:
    assert rescale_cost(started(13.0, 15.0)).start_within_s() < 18.0
