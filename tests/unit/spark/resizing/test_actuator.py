from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.actions import Recommendation, ReplaceExecutor
from rheostat.model import Capabilities, Decision, Rescaling
from rheostat.spark.resizing.actuator import LiveSize, NoopActuator, SparkActuator
from rheostat.spark.resizing.locality import SHORT, LocalityWait

ABLE = Capabilities(can_scale=True)


class Protocols:
    """Records its requests, and reports what the test defines."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, list[str], bool]] = []
        self.phase = "steady"
        self.runs = False
        self.resumed: list[object] = []

    def reconcile(self, target, replace, now, decided=True):
        self.requests.append((target, list(replace), decided))
        return Rescaling(phase=self.phase, detail=f"at {now:g}", memory={"lives": 1})

    def resume(self, memory, now):
        self.resumed.append(memory)

    def start(self, tick):
        self.runs = True

    def hold(self):
        self.runs = False

    def stop(self):
        self.runs = False


def nothing(wait: str | None) -> bool:
    return True


def actuator_of(
    protocols: Any,
    executors: int = 1,
    application: str = "app-1",
    locality_wait: LocalityWait | None = None,
) -> SparkActuator:
    """Return an actuator of an application with ``executors`` executors, as observed."""
    counted: Any = SimpleNamespace(registered=lambda: executors, requested=lambda: executors)
    size = LiveSize(counted, None)
    size.now(0.0)
    own = locality_wait or LocalityWait(nothing, lambda: False)
    return SparkActuator(protocols, ABLE, size, own, lambda: {"application": application})


def test_the_target_is_requested_at_every_tick():
    protocols = Protocols()
    actuator = actuator_of(protocols)
    for now in (1.0, 2.0):
        assert actuator.rescale(Decision(target=3, reason="test"), now) == Rescaling(
            phase="steady", detail=f"at {now:g}"
        )
    assert protocols.requests == [(3, [], True), (3, [], True)]
    assert actuator.capabilities() == ABLE


def test_the_current_size_is_kept_without_a_request():
    protocols = Protocols()
    actuator_of(protocols, executors=3).rescale(Decision(target=3, reason="size kept"), 1.0)
    assert protocols.requests == [(3, [], False)]


@pytest.mark.parametrize(
    ("actions", "replace"),
    [
        ((ReplaceExecutor("7"), ReplaceExecutor("driver-3")), ["7", "driver-3"]),
        ((Recommendation("replace executor 7"),), []),
    ],
)
def test_executors_to_replace_are_read_from_the_actions(actions, replace):
    protocols = Protocols()
    actuator_of(protocols).rescale(Decision(target=3, reason="test", actions=actions), 0.0)
    assert protocols.requests == [(3, replace, True)]


def test_the_actuator_works_between_ticks_until_it_is_closed():
    protocols = Protocols()
    actuator = actuator_of(protocols)
    actuator.start(lambda: None)
    assert protocols.runs
    actuator.close()
    assert not protocols.runs


def test_a_held_actuator_does_nothing_until_the_next_decision_and_resumes_its_memory():
    protocols = Protocols()
    actuator = actuator_of(protocols, executors=3)
    actuator.start(lambda: None)
    actuator.rescale(Decision(target=2, reason="test"), 1.0)
    for _ in range(2):
        actuator.hold()
        assert not protocols.runs
    actuator.rescale(Decision(target=3, reason="size kept"), 9.0)
    assert protocols.runs
    assert protocols.resumed == [{"lives": 1}]
    # The previous target is not asserted: 3 executors exist, and no policy wants others.
    assert protocols.requests == [(2, [], True), (3, [], False)]


def test_locality_wait_is_short_during_a_rescale_and_restored_at_the_end():
    protocols, waits = Protocols(), []

    def set_wait(wait: str | None) -> bool:
        waits.append(wait)
        return True

    actuator = actuator_of(protocols, locality_wait=LocalityWait(set_wait, lambda: False))
    for phase in ("steady", "growing"):
        protocols.phase = phase
        actuator.rescale(Decision(target=2, reason="test"), 5.0)
    assert waits == [SHORT]
    actuator.close()
    assert waits == [SHORT, None]


def test_the_noop_actuator_only_reports_the_target():
    adviser = NoopActuator(Capabilities(can_scale=False, cannot=("shadow mode",)))
    adviser.resume({}, 0.0)
    adviser.start(lambda: None)
    assert adviser.rescale(Decision(target=4, reason="test"), 0.0) == Rescaling(
        phase="advised", detail="4 executors would be enough"
    )
    assert adviser.capabilities().cannot == ("shadow mode",)


@pytest.mark.parametrize(("application", "resumed"), [("app-1", [{"lives": 1}]), ("app-2", [])])
def test_only_the_same_applications_memory_is_resumed_and_never_its_size(application, resumed):
    memory = actuator_of(Protocols()).rescale(Decision(target=3, reason="test"), 1.0).memory
    protocols = Protocols()
    actuator = actuator_of(protocols, executors=2, application=application)
    actuator.resume(json.loads(json.dumps(memory)), 2.0)
    assert protocols.resumed == resumed
    actuator.rescale(Decision(target=2, reason="size kept"), 3.0)
    assert protocols.requests == [(2, [], False)]


def test_without_a_memory_nothing_is_resumed():
    protocols = Protocols()
    actuator_of(protocols).resume({}, 1.0)
    assert protocols.resumed == []
