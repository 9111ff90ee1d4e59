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


def test_a_size_without_a_core_per_receiver_is_raised_with_a_reason():
    assert guarded(1, 3) == Decision(target=2, reason="quiet; 3 receivers need 4 cores")


@pytest.mark.parametrize(("receivers", "cores"), [(None, 2), (0, 2), (3, None)])
def test_without_receivers_or_known_cores_nothing_changes(receivers, cores):
    assert guarded(1, receivers, cores).target == 1


@given(some.integers(1, 20), some.integers(1, 40), some.integers(1, 8))
def test_receivers_and_one_batch_have_cores_without_surplus_executors(target, receivers, cores):
    after = guarded(target, receivers, cores).target
    assert after * cores >= receivers + 1
    assert after == target or (after - 1) * cores < receivers + 1
