from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.model import Capabilities, Decision
from rheostat.spark.internals.receiver_tracker import Receiver
from rheostat.spark.receivers.dstreams_actuator import DStreamsActuator
from rheostat.spark.resizing.actuator import LiveSize


class Cluster:
    """Executors and receivers that record their requests."""

    def __init__(self, where: dict[int, str | None], executors: Sequence[str]) -> None:
        self.where, self.executors = where, list(executors)
        self.requests: list[tuple[object, ...]] = []
        self.known = self.can_decommission = True

    def hosts(self) -> dict[str, str]:
        return dict.fromkeys(self.executors, "127.0.0.1")

    def registered(self) -> int:
        return len(self.executors)

    def request_total(self, executors: int) -> bool:
        self.requests.append(("request", executors))
        return True

    def decommission(self, executors: Sequence[str]) -> None:
        self.requests.append(("decommission", *executors))

    def kill_idle(self, executors: Sequence[str]) -> None:
        self.requests.append(("kill idle", *executors))

    def kill(self, executors: Sequence[str]) -> None:
        self.requests.append(("kill", *executors))

    def receivers(self) -> tuple[Receiver, ...] | None:
        receivers = tuple(Receiver(stream, at) for stream, at in self.where.items())
        return receivers if self.known else None

    def move(self, stream: int, executor: str, host: str) -> bool:
        self.requests.append(("move", stream, executor, host))
        return True


def actuator(cluster: Any, moves: bool = True) -> DStreamsActuator:
    registered = len(cluster.executors)
    counted: Any = SimpleNamespace(registered=lambda: registered, requested=lambda: registered)
    size = LiveSize(counted, None)
    size.now(0.0)
    can = Capabilities(can_scale=True)
    return DStreamsActuator(cluster, cluster, can, size, "app-1", 4, moves)


def decision(target: int) -> Decision:
    return Decision(target=target, reason="")


def test_an_executor_leaves_and_its_receiver_moves():
    cluster = Cluster({0: "0", 1: "1"}, ["0", "1"])
    rescaling = actuator(cluster).rescale(decision(1), 10.0)
    assert cluster.requests == [
        ("request", 1),
        ("decommission", "1"),
        ("move", 1, "0", "127.0.0.1"),
    ]
    assert (rescaling.phase, rescaling.detail) == (
        "shrinking",
        "executor 1 leaves, 1 receivers move",
    )


def test_the_current_size_is_not_requested_before_a_decision():
    cluster = Cluster({0: "0"}, ["0", "1"])
    assert actuator(cluster).rescale(decision(2), 10.0).phase == "steady"
    assert cluster.requests == []


def test_a_receiver_on_a_lost_executor_counts_as_starting():
    cluster = Cluster({0: "0", 1: "7"}, ["0", "1"])
    rescaling = actuator(cluster).rescale(decision(1), 10.0)
    assert rescaling.phase == "blocked"
    assert cluster.requests == [("request", 1)]


def test_nothing_is_done_if_spark_does_not_list_its_receivers():
    cluster = Cluster({0: "0"}, ["0", "1"])
    cluster.known = False
    assert actuator(cluster).rescale(decision(1), 10.0).phase == "blocked"
    assert cluster.requests == []


@pytest.mark.parametrize(("application", "request_count"), [("app-1", 1), ("app-2", 2)])
def test_leaving_executors_are_remembered_for_the_same_application(application, request_count):
    cluster = Cluster({0: "0"}, ["0", "1"])
    first = actuator(cluster)
    memory = {**first.rescale(decision(1), 10.0).memory, "application": application}
    cluster.requests.clear()
    second = actuator(cluster)
    second.resume(memory, 11.0)
    second.rescale(decision(1), 12.0)
    assert len(cluster.requests) == request_count
