"""The memory goes through JSON and back; one that cannot be read is an empty one."""

import json

import pytest

from rheostat.errors import BadInput
from rheostat.rescaling.executors.memory import Life, Memory
from rheostat.rescaling.executors.phase_limits import Waits

FULL = Memory(
    lives={"1": Life("settled", 1.5), "7": Life("emptying", 2.0, 1, 6, 2)},
    batch=9,
    boundary_s=12.25,
    wanted={("run", 0): "1", ("run", 11): "1"},
    takers=("1",),
    sent={("run", 11): "1"},
    replacing={"7": 1.0},
)


@pytest.mark.parametrize("memory", [FULL, Memory()])
def test_a_memory_comes_back_from_json_as_it_was(memory):
    assert Memory.from_json(json.loads(json.dumps(memory.to_json()))) == memory


@pytest.mark.parametrize("kept", [{}, {"schema": 2, "lives": "something else"}])
def test_a_memory_of_another_schema_is_an_empty_one(kept):
    assert Memory.from_json(kept) == Memory()


def test_waits_that_cannot_be_are_refused_with_their_value():
    with pytest.raises(BadInput, match="warm_s must be above 0 seconds, but it is 0"):
        Waits(warm_s=0)
    with pytest.raises(BadInput, match="tries must be at least 1, but it is 0"):
        Waits(tries=0)


def test_each_phase_that_can_be_late_has_its_own_wait():
    waits = Waits(warm_s=1, empty_s=2, hidden_s=3, leave_s=4)
    assert [
        waits.of(phase)
        for phase in ("warming", "victim", "emptying", "hidden", "leaving", "killed")
    ] == [1, 2, 2, 3, 4, 4]


def test_what_a_new_controller_goes_on_from_has_no_batches_and_no_waits_of_the_old_one():
    resumed = FULL.resumed(50.0)
    assert [(life.phase, life.since_s) for life in resumed.lives.values()] == [
        ("settled", 50.0),
        ("emptying", 50.0),
    ]
    assert (resumed.batch, resumed.boundary_s, resumed.sent) == (None, None, {})
    assert (resumed.wanted, resumed.replacing) == (FULL.wanted, FULL.replacing)
