from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from rheostat.model import Capabilities, Decision
from rheostat.spark.internals.receiver_tracker import Receiver
from rheostat.spark.receivers.dstreams_actuator import DStreamsActuator
from rheostat.spark.resizing.actuator import LiveSize


class Cluster:
    """Executors and receivers that record their requests."""

    def __init__(self, where: dict[int, str | None], executors: Sequence[str]) -> None:
        self.where, self.executors = where, list(executors)
        self.asked: list[tuple[object, ...]] = []
        self.known = True

    def hosts(self) -> dict[str, str]:
        return dict.fromkeys(self.executors, "127.0.0.1")

    def request_total(self, executors: int) -> bool:
        self.asked.append(("request", executors))
        return True

    def decommission(self, executors: Sequence[str]) -> None:
        self.asked.append(("decommission", *executors))

    def kill(self, executors: Sequence[str]) -> None:
        self.asked.append(("kill", *executors))

    def receivers(self) -> tuple[Receiver, ...] | None:
        found = tuple(Receiver(stream, at, "127.0.0.1") for stream, at in self.where.items())
        return found if self.known else None

    def move(self, stream: int, executor: str, host: str) -> bool:
        self.asked.append(("move", stream, executor, host))
        return True


def actuator(cluster: Cluster, moves: bool = True) -> DStreamsActuator:
    registered = len(cluster.executors)
    counted = SimpleNamespace(registered=lambda: registered, requested=lambda: registered)
    size = LiveSize(counted, None)
    size.now(0.0)
    can = Capabilities(can_scale=True)
    return DStreamsActuator(cluster, cluster, can, size, "app-1", 4, moves, graceful=True)


def decision(target: int) -> Decision:
    return Decision(target=target, reason="")


def test_an_executor_leaves_and_its_receiver_goes_to_the_other():
    cluster = Cluster({0: "0", 1: "1"}, ["0", "1"])
    rescaling = actuator(cluster).rescale(decision(1), 10.0)
    assert cluster.asked == [
        ("request", 1),
        ("decommission", "1"),
        ("move", 1, "0", "127.0.0.1"),
    ]
    assert (rescaling.phase, rescaling.detail) == (
        "shrinking",
        "executor 1 leaves, 1 receivers move",
    )


def test_the_size_that_is_there_is_not_asserted_before_a_decision():
    cluster = Cluster({0: "0"}, ["0", "1"])
    assert actuator(cluster).rescale(decision(2), 10.0).phase == "steady"
    assert cluster.asked == []


def test_a_receiver_on_an_executor_that_has_gone_counts_as_starting():
    cluster = Cluster({0: "0", 1: "7"}, ["0", "1"])
    said = actuator(cluster).rescale(decision(1), 10.0)
    assert said.phase == "blocked"
    assert cluster.asked == [("request", 1)]


def test_where_spark_does_not_tell_its_receivers_nothing_is_done():
    cluster = Cluster({0: "0"}, ["0", "1"])
    cluster.known = False
    assert actuator(cluster).rescale(decision(1), 10.0).phase == "blocked"
    assert cluster.asked == []


@pytest.mark.parametrize(("application", "asked"), [("app-1", 1), ("app-2", 2)])
def test_who_was_leaving_is_remembered_of_the_same_application(application, asked):
    cluster = Cluster({0: "0"}, ["0", "1"])
    first = actuator(cluster)
    kept = {**first.rescale(decision(1), 10.0).memory, "application": application}
    cluster.asked.clear()
    second = actuator(cluster)
    second.resume(kept, 11.0)
    second.rescale(decision(1), 12.0)
    assert len(cluster.asked) == asked
