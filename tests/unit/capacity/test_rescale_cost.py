"""What starts have cost: looks are moments, and what happened between two of them is not known."""

import json
from typing import Any

import pytest

from rheostat.capacity.rescale_cost import (
    during_start,
    rescale_cost,
    with_first_start,
    with_late,
    with_load,
    with_settled,
    with_sight,
)


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


def test_batches_that_are_slow_while_executors_start_are_told_from_others() -> None:
    known = started(10.0, 5.0)
    assert rescale_cost(known).load == 1.0
    for _ in range(3):
        known = with_load(known, 1.5)
    assert 1.3 < rescale_cost(known).load < 1.5


def test_one_batch_that_was_stuck_does_not_make_every_start_dear() -> None:
    assert rescale_cost(with_load({}, 50.0)).load < 1.5


def test_what_takes_hardly_longer_takes_as_long() -> None:
    assert rescale_cost(with_load({}, 1.1)).load == 1.0


def test_a_batch_is_in_a_start_by_the_share_of_its_time() -> None:
    waiting = with_sight(with_sight({}, 0.0, 1, 1), 5.0, 2, 1)  # asked for at 0
    assert during_start(waiting, -10.0, 10.0) == pytest.approx(0.5)
    assert during_start(waiting, 5.0, 10.0) == 1.0
    assert during_start(with_sight(waiting, 10.0, 2, 2), 5.0, 15.0) == 0.0
    assert during_start({}, 0.0, 5.0) == 0.0


def test_what_a_change_makes_late_is_the_sum_over_its_batches() -> None:
    known = with_settled(with_late(with_late({}, 2.0), 3.0))
    for _ in range(20):
        known = with_settled(with_late(with_late(known, 2.0), 3.0))
    assert rescale_cost(known).late_s == pytest.approx(5.0, rel=0.01)
    assert rescale_cost(with_settled(known)).late_s == rescale_cost(known).late_s


def test_what_changes_made_late_is_forgotten_within_hours() -> None:
    known = with_sight(with_late(with_sight({}, 0.0, 2, 2), 6.0), 1800.0, 2, 2)
    assert 3.0 < rescale_cost(known).spent_late_s < 4.0
    for hour in range(1, 9):
        known = with_sight(known, 1800.0 + 3600.0 * hour, 2, 2)
    assert rescale_cost(known).spent_late_s < 0.01


def test_what_the_first_executor_took_is_what_others_are_thought_to_take() -> None:
    assert rescale_cost(with_first_start({}, 60.0)).start_s == pytest.approx(60.0)
    assert rescale_cost(with_first_start({}, 60.0)).spread == rescale_cost({}).spread


def test_starts_that_were_asked_for_count_for_more_than_the_first_executors() -> None:
    known = started(10.0, 3.0)
    assert rescale_cost(with_first_start(known, 60.0)) == rescale_cost(known)


def test_a_first_executor_that_a_full_cluster_kept_waiting_tells_nothing() -> None:
    assert with_first_start({}, 900.0) == {} == with_first_start({}, 0.0)
