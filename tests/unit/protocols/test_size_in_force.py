from __future__ import annotations

import pytest

from rheostat.protocols.size_in_force import RECENT_S, SETTLE_S, SizeInForce


def test_requested_executors_count_before_they_register():
    assert SizeInForce().update(1, 3, 0.0) == (1, 3)


def test_registered_executors_count_if_they_are_more():
    assert SizeInForce().update(3, 1, 0.0) == (3, 3)


def test_without_a_known_request_the_size_is_unknown_until_executors_settle():
    size = SizeInForce()
    assert size.update(1, None, 0.0) == (None, None)
    assert size.update(3, None, SETTLE_S - 1) == (None, None)
    assert size.update(3, None, 2 * SETTLE_S - 1) == (3, 3)


def test_nothing_is_decided_before_the_first_executor_registers():
    size = SizeInForce()
    assert size.update(0, 3, 0.0) == (0, 3)
    size.decide(1)
    assert size.decided is None


def test_a_decision_without_a_known_size_is_ignored():
    size = SizeInForce()
    size.update(1, None, 0.0)
    size.decide(2)
    assert size.decided is None


@pytest.mark.parametrize("target", [3, 1])
def test_keeping_the_requested_or_registered_size_is_not_a_decision(target):
    size = SizeInForce()
    size.update(1, 3, 0.0)
    size.decide(target)
    assert size.decided is None


def test_a_decision_takes_effect_immediately():
    size = SizeInForce()
    size.update(1, 3, 0.0)
    size.decide(2)
    assert size.decided == 2
    assert size.update(3, 9, 1.0) == (3, 2)


def test_replacing_an_executor_decides_to_keep_the_size():
    size = SizeInForce()
    size.update(3, 3, 0.0)
    size.decide(3, replaces=True)
    assert size.decided == 3


def test_standby_executors_decide_to_keep_the_size_once_it_is_reached():
    size = SizeInForce(standby=1)
    size.update(2, 3, 0.0)
    size.decide(3)
    assert size.decided is None
    size.update(3, 3, 1.0)
    size.decide(3)
    assert size.decided == 3


def test_a_lost_executor_still_counts_for_a_minute():
    size = SizeInForce()
    size.update(3, 1, 0.0)
    assert size.update(2, 1, RECENT_S - 1) == (2, 3)
    assert size.update(2, 1, RECENT_S) == (2, 2)


def test_a_late_executor_counts_until_a_decision_is_made():
    size = SizeInForce()
    size.update(3, 3, 0.0)
    assert size.update(4, 3, 1.0) == (4, 4)


def test_a_clock_set_back_does_not_extend_waiting_times():
    size = SizeInForce()
    size.update(3, None, 10_000.0)
    assert size.update(3, None, 0.0) == (None, None)
    assert size.update(3, None, SETTLE_S) == (3, 3)


def test_standby_executors_do_not_count_as_active():
    size = SizeInForce(standby=2)
    assert size.update(4, 4, 0.0) == (4, 4)
    size.decide(3)
    at_work = [size.update(registered, None, 1.0)[0] for registered in (2, 3, 4, 5, 6)]
    assert at_work == [2, 3, 3, 3, 4]


@pytest.mark.parametrize(
    ("requested", "registered", "begins"), [(1, 1, True), (6, 1, False), (1, 6, False)]
)
def test_an_initial_size_applies_at_once_if_it_exceeds_the_current_size(
    requested, registered, begins
):
    size = SizeInForce()
    size.update(registered, requested, 0.0)
    assert size.begin(6, requested) is begins
    assert size.update(registered, requested, 1.0) == (registered, 6)


def test_an_initial_size_waits_while_pending_executors_are_unknown():
    size = SizeInForce()
    assert not size.begin(6, None)
    assert size.decided is None


def test_an_initial_size_replaces_no_decision():
    size = SizeInForce()
    size.update(3, 3, 0.0)
    size.decide(2)
    assert not size.begin(6, 3)
    assert size.decided == 2
