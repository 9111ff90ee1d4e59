"""What the protocol waits for."""

from __future__ import annotations

import pytest

from rheostat.rescaling.executors.awaited import awaits_boundary, has_rested, standing_by
from rheostat.rescaling.executors.executor_lifecycle import LIFE
from rheostat.rescaling.executors.memory import Life, Memory
from rheostat.rescaling.executors.phase_limits import Waits


def memory(*phases: str) -> Memory:
    return Memory(lives={str(n): Life(phase, 10.0) for n, phase in enumerate(phases)})


@pytest.mark.parametrize("phase", [phase for phase in LIFE.phases if phase != "gone"])
def test_a_boundary_is_waited_for_in_all_phases_but_those_that_none_ends(phase):
    resting = {"settled", "stuck", "standby", "leaving", "killed"}
    assert awaits_boundary(memory("settled", phase)) is (phase not in resting)


def test_an_assignment_that_did_not_stay_rests_its_time():
    waits = Waits(rest_s=60.0)
    assert [has_rested(memory("stuck"), now_s, waits) for now_s in (69.0, 70.0)] == [False, True]
    assert not has_rested(memory("settled"), 1000.0, waits)


def test_those_in_standby_are_told_by_their_phase():
    assert standing_by(memory("settled", "standby", "warm")) == {"1"}
