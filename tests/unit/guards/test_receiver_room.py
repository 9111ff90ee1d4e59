from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rheostat.guards import ReceiverRoom
from rheostat.model import Decision, Observation


def guarded(target: int, receivers: int | None, cores: int | None = 2) -> Decision:
    observation = Observation(t_s=0.0, receivers=receivers, slots_per_executor=cores)
    decision, kept = ReceiverRoom()(Decision(target=target, reason="quiet"), observation, {}, 0.0)
    assert kept == {}
    return decision


def test_a_size_that_has_no_core_for_a_receiver_is_raised_and_says_why():
    assert guarded(1, 3) == Decision(target=2, reason="quiet; 3 receivers need 4 cores")


@pytest.mark.parametrize(("receivers", "cores"), [(None, 2), (0, 2), (3, None)])
def test_without_a_fleet_or_with_unknown_cores_nothing_is_changed(receivers, cores):
    assert guarded(1, receivers, cores).target == 1


@given(some.integers(1, 20), some.integers(1, 40), some.integers(1, 8))
def test_all_receivers_and_one_batch_always_have_a_core_and_no_executor_is_asked_for_in_vain(
    target, receivers, cores
):
    after = guarded(target, receivers, cores).target
    assert after * cores >= receivers + 1
    assert after == target or (after - 1) * cores < receivers + 1
