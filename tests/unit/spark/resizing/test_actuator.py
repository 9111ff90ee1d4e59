from __future__ import annotations

import json

import pytest

from rheostat.model import Capabilities, Decision, Rescaling
from rheostat.spark.resizing.actuator import Adviser, SparkActuator
from rheostat.spark.resizing.locality_wait import SHORT, Patience

ABLE = Capabilities(can_scale=True)


class Protocols:
    """Notes what it is asked for, and says what the test wants."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, list[str]]] = []
        self.phase = "steady"
        self.runs = False
        self.resumed: list[object] = []

    def ask(self, target, replace, now):
        self.asked.append((target, list(replace)))
        return Rescaling(phase=self.phase, detail=f"at {now:g}", memory={"lives": 1})

    def resume(self, kept, now):
        self.resumed.append(kept)

    def start(self, tick):
        self.runs = True

    def stop(self):
        self.runs = False


def test_the_target_is_asserted_again_at_every_tick():
    protocols = Protocols()
    actuator = SparkActuator(protocols, ABLE)
    for now in (1.0, 2.0):
        assert actuator.rescale(Decision(target=3, reason="test"), now) == Rescaling(
            phase="steady", detail=f"at {now:g}"
        )
    assert protocols.asked == [(3, []), (3, [])]
    assert (actuator.target, actuator.capabilities()) == (3, ABLE)


@pytest.mark.parametrize(
    ("actions", "replace"),
    [
        (("replace executor 7", "replace executor driver-3"), ["7", "driver-3"]),
        (("paint executor 7", "replace executor"), []),
    ],
)
def test_what_is_to_be_replaced_is_read_from_the_actions(actions, replace):
    protocols = Protocols()
    SparkActuator(protocols, ABLE).rescale(Decision(target=3, reason="test", actions=actions), 0.0)
    assert protocols.asked == [(3, replace)]


def test_it_works_between_the_ticks_until_it_is_closed():
    protocols = Protocols()
    actuator = SparkActuator(protocols, ABLE)
    actuator.start()
    assert protocols.runs
    actuator.close()
    assert not protocols.runs


def test_tasks_wait_less_while_the_size_changes_and_have_their_own_wait_back_at_the_end():
    protocols, waits = Protocols(), []

    def set_wait(wait: str | None) -> bool:
        waits.append(wait)
        return True

    actuator = SparkActuator(protocols, ABLE)
    actuator.patience = Patience(set_wait, stateful=lambda: False)
    for phase in ("steady", "growing"):
        protocols.phase = phase
        actuator.rescale(Decision(target=2, reason="test"), 5.0)
    assert waits == [SHORT]
    actuator.close()
    assert waits == [SHORT, None]


def test_an_adviser_changes_nothing_and_says_what_it_would():
    adviser = Adviser(Capabilities(can_scale=False, cannot=("shadow mode",)))
    assert adviser.rescale(Decision(target=4, reason="test"), 0.0) == Rescaling(
        phase="advised", detail="4 executors would do"
    )
    assert (adviser.target, adviser.capabilities().cannot) == (None, ("shadow mode",))


@pytest.mark.parametrize(
    ("application", "resumed", "target"), [("app-1", [{"lives": 1}], 3), ("app-2", [], None)]
)
def test_only_the_memory_of_the_same_application_is_resumed(application, resumed, target):
    kept = (
        SparkActuator(Protocols(), ABLE, "app-1")
        .rescale(Decision(target=3, reason="test"), 1.0)
        .memory
    )
    protocols = Protocols()
    actuator = SparkActuator(protocols, ABLE, application)
    actuator.resume(json.loads(json.dumps(kept)), 2.0)
    assert (protocols.resumed, actuator.target) == (resumed, target)


def test_nothing_is_resumed_where_nothing_was_kept():
    protocols = Protocols()
    SparkActuator(protocols, ABLE, "app-1").resume({}, 1.0)
    assert protocols.resumed == []


def test_executors_that_stand_by_are_not_counted_as_at_work():
    actuator = SparkActuator(Protocols(), ABLE, standby=2)
    assert actuator.at_work(4) == 4
    actuator.target = 3
    assert [actuator.at_work(registered) for registered in (2, 3, 4, 5, 6)] == [2, 3, 3, 3, 4]
