from __future__ import annotations

import pytest

from rheostat.protocols.size_in_force import RECENT_S, SETTLE_S, SizeInForce


def test_what_was_asked_for_is_in_force_before_it_is_there():
    assert SizeInForce().update(1, 3, 0.0) == (1, 3)


def test_what_is_there_is_in_force_where_that_is_more():
    assert SizeInForce().update(3, 1, 0.0) == (3, 3)


def test_where_nothing_is_known_to_have_been_asked_for_there_is_no_size_until_executors_settle():
    size = SizeInForce()
    assert size.update(1, None, 0.0) == (None, None)
    assert size.update(3, None, SETTLE_S - 1) == (None, None)
    assert size.update(3, None, 2 * SETTLE_S - 1) == (3, 3)


def test_before_the_first_executor_is_there_nothing_is_decided():
    size = SizeInForce()
    assert size.update(0, 3, 0.0) == (0, 3)
    size.decide(1)
    assert size.decided is None


def test_a_decision_before_there_is_a_size_decides_nothing():
    size = SizeInForce()
    size.update(1, None, 0.0)
    size.decide(2)
    assert size.decided is None


@pytest.mark.parametrize("kept", [3, 1])
def test_to_keep_what_is_asked_for_or_what_of_it_is_there_decides_nothing(kept):
    size = SizeInForce()
    size.update(1, 3, 0.0)
    size.decide(kept)
    assert size.decided is None


def test_a_decision_is_in_force_from_then_on():
    size = SizeInForce()
    size.update(1, 3, 0.0)
    size.decide(2)
    assert size.decided == 2
    assert size.update(3, 9, 1.0) == (3, 2)


def test_who_replaces_an_executor_decides_to_keep_the_size():
    size = SizeInForce()
    size.update(3, 3, 0.0)
    size.decide(3, replaces=True)
    assert size.decided == 3


def test_who_wants_executors_in_standby_decides_to_keep_the_size_once_it_is_there():
    size = SizeInForce(standby=1)
    size.update(2, 3, 0.0)
    size.decide(3)
    assert size.decided is None
    size.update(3, 3, 1.0)
    size.decide(3)
    assert size.decided == 3


def test_an_executor_that_is_lost_still_counts_for_a_minute():
    size = SizeInForce()
    size.update(3, 1, 0.0)
    assert size.update(2, 1, RECENT_S - 1) == (2, 3)
    assert size.update(2, 1, RECENT_S) == (2, 2)


def test_an_executor_that_comes_late_counts_as_long_as_nobody_has_decided():
    size = SizeInForce()
    size.update(3, 3, 0.0)
    assert size.update(4, 3, 1.0) == (4, 4)


def test_a_clock_that_was_put_back_keeps_nothing_for_hours():
    size = SizeInForce()
    size.update(3, None, 10_000.0)
    assert size.update(3, None, 0.0) == (None, None)
    assert size.update(3, None, SETTLE_S) == (3, 3)


def test_executors_that_stand_by_are_not_at_work():
    size = SizeInForce(standby=2)
    assert size.update(4, 4, 0.0) == (4, 4)
    size.decide(3)
    at_work = [size.update(registered, None, 1.0)[0] for registered in (2, 3, 4, 5, 6)]
    assert at_work == [2, 3, 3, 3, 4]


@pytest.mark.parametrize(
    ("requested", "registered", "begins"), [(1, 1, True), (6, 1, False), (1, 6, False)]
)
def test_an_initial_size_is_in_force_at_once_where_it_is_more_than_what_there_is(
    requested, registered, begins
):
    size = SizeInForce()
    size.update(registered, requested, 0.0)
    assert size.begin(6, requested) is begins
    assert size.update(registered, requested, 1.0) == (registered, 6)


def test_an_initial_size_waits_while_nobody_knows_how_many_executors_still_arrive():
    size = SizeInForce()
    assert not size.begin(6, None)
    assert size.decided is None


def test_an_initial_size_replaces_no_decision():
    size = SizeInForce()
    size.update(3, 3, 0.0)
    size.decide(2)
    assert not size.begin(6, 3)
    assert size.decided == 2
