"""The memory survives JSON; an unreadable one becomes empty."""

import json

import pytest

from rheostat.errors import BadInput
from rheostat.protocols.executors.executor_lifecycle import LIFE
from rheostat.protocols.executors.memory import (
    Life,
    Memory,
    Waits,
    awaits_boundary,
    has_rested,
    standing_by,
)

FULL = Memory(
    lives={"1": Life("ready", 1.5), "7": Life("emptying", 2.0, 1, 6, 2)},
    batch=9,
    boundary_s=12.25,
    wanted={("run", 0): "1", ("run", 11): "1"},
    takers=("1",),
    sent={("run", 11): "1"},
    replacing={"7": 1.0},
)


@pytest.mark.parametrize("memory", [FULL, Memory()])
def test_a_memory_survives_a_json_round_trip(memory):
    assert Memory.from_json(json.loads(json.dumps(memory.to_json()))) == memory


def test_phase_names_of_earlier_journals_are_converted():
    stored = Memory().to_json() | {"lives": {"1": ["settled", 1.5, 0, 0, 0], "2": ["victim", 2.0]}}
    phases = {executor: life.phase for executor, life in Memory.from_json(stored).lives.items()}
    assert phases == {"1": "ready", "2": "candidate"}


@pytest.mark.parametrize("stored", [{}, {"schema": 2, "lives": "something else"}])
def test_a_memory_of_another_schema_becomes_empty(stored):
    assert Memory.from_json(stored) == Memory()


def test_invalid_waits_are_rejected_with_their_value():
    with pytest.raises(BadInput, match="warm_s must be above 0 seconds, but it is 0"):
        Waits(warm_s=0)
    with pytest.raises(BadInput, match="tries must be at least 1, but it is 0"):
        Waits(tries=0)


def test_every_phase_that_can_be_overdue_has_its_own_timeout():
    waits = Waits(warm_s=1, empty_s=2, hidden_s=3, leave_s=4)
    assert [
        waits.of(phase)
        for phase in ("warming", "candidate", "emptying", "hidden", "leaving", "killed")
    ] == [1, 2, 2, 3, 4, 4]


def test_a_resumed_memory_drops_batches_and_waiting_times():
    resumed = FULL.resumed(50.0)
    assert [(life.phase, life.since_s) for life in resumed.lives.values()] == [
        ("ready", 50.0),
        ("emptying", 50.0),
    ]
    assert (resumed.batch, resumed.boundary_s, resumed.sent) == (None, None, {})
    assert (resumed.wanted, resumed.replacing) == (FULL.wanted, FULL.replacing)


def memory_of(*phases: str) -> Memory:
    return Memory(lives={str(n): Life(phase, 10.0) for n, phase in enumerate(phases)})


@pytest.mark.parametrize("phase", [phase for phase in LIFE.phases if phase != "gone"])
def test_all_unfinished_phases_wait_for_a_batch_boundary(phase):
    resting = {"ready", "stuck", "standby", "leaving", "killed"}
    assert awaits_boundary(memory_of("ready", phase)) is (phase not in resting)


def test_a_failed_assignment_is_retried_after_its_rest():
    waits = Waits(rest_s=60.0)
    assert [has_rested(memory_of("stuck"), now_s, waits) for now_s in (69.0, 70.0)] == [False, True]
    assert not has_rested(memory_of("ready"), 1000.0, waits)


def test_standby_executors_are_listed():
    assert standing_by(memory_of("ready", "standby", "warm")) == {"1"}
