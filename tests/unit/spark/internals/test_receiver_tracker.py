from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.receiver_tracker import DStreams, Receiver


class Some:
    """Scala's Option."""

    def __init__(self, value: Any = None) -> None:
        self._value = value

    def isDefined(self) -> bool:  # noqa: N802 - Scala's name
        return self._value is not None

    def get(self) -> Any:
        return self._value


class Info:
    """The tracker's information about a receiver."""

    def __init__(self, tracker: Tracker, number: int, executor: str | None, state: str) -> None:
        at = executor and SimpleNamespace(executorId=lambda: executor, host=lambda: "h")
        self.receiverId = lambda: number
        self.runningExecutor = lambda: Some(at)
        self.state = lambda: SimpleNamespace(toString=lambda: state)
        stop = SimpleNamespace(send=lambda what: tracker.messages.append((number, what)))
        self.endpoint = lambda: Some(stop)


class Tracker:
    """The tracker, and the JVM's side of the calls to it."""

    def __init__(self) -> None:
        self.messages: list[tuple[Any, ...]] = []
        self.infos = [
            Info(self, 1, "7", "ACTIVE"),
            Info(self, 0, "5", "INACTIVE"),
        ]
        name = "org$apache$spark$streaming$scheduler$ReceiverTracker$$"
        setattr(self, f"{name}updateReceiverScheduledExecutors", self._schedule)

    def _schedule(self, number: int, places: Any) -> None:
        self.messages.append((number, *places))


class Values:
    def __init__(self, items: list[Any]) -> None:
        self._items = list(items)

    def hasNext(self) -> bool:  # noqa: N802 - Scala's name
        return bool(self._items)

    def next(self) -> Any:
        return self._items.pop(0)


def gateway_of(tracker: Tracker, jvm: Any) -> Gateway:
    fake_gateway: Any = object.__new__(Gateway)
    place = SimpleNamespace(ExecutorCacheTaskLocation=lambda host, executor: (host, executor))
    fake_gateway.jvm = SimpleNamespace(
        org=SimpleNamespace(apache=SimpleNamespace(spark=SimpleNamespace(scheduler=place))),
        scala=SimpleNamespace(
            reflect=SimpleNamespace(ClassTag=SimpleNamespace(apply=lambda kind: kind))
        ),
    )
    endpoint = SimpleNamespace(
        askSync=lambda message, tag: SimpleNamespace(valuesIterator=lambda: Values(tracker.infos))
    )
    fake_gateway.field = lambda of, name, kind="": endpoint
    fake_gateway.single = lambda name: name.rpartition(".")[2]
    fake_gateway.class_named = jvm
    fake_gateway.sequence = tuple
    return fake_gateway  # type: ignore[no-any-return]


def dstreams(tracker: Tracker, jvm: Any = str, **scala: Any) -> DStreams:
    scheduler = SimpleNamespace(receiverTracker=lambda: tracker)
    context = SimpleNamespace(scheduler=lambda: scheduler, **scala)
    streaming = SimpleNamespace(_jssc=SimpleNamespace(ssc=lambda: context))
    return DStreams(gateway_of(tracker, jvm), streaming)


@pytest.fixture
def tracker() -> Tracker:
    return Tracker()


def test_receivers_are_listed_by_number_and_a_starting_one_has_no_location(tracker):
    assert dstreams(tracker).receivers() == (Receiver(0, None), Receiver(1, "7"))


def test_a_receiver_is_rescheduled_and_then_stopped(tracker):
    assert dstreams(tracker).move(1, "5", "h5")
    assert tracker.messages == [(1, ("h5", "5")), (1, "StopReceiver$")]


def test_an_unknown_receiver_is_not_moved(tracker):
    assert not dstreams(tracker).move(9, "5", "h5")
    assert tracker.messages == []


def test_values_that_spark_does_not_expose_are_unknown(tracker):
    def absent(*_: object) -> Any:
        raise Py4JError("no such class")

    gone = dstreams(tracker, jvm=absent, getState=absent, graph=absent)
    assert gone.receivers() is None
    assert not gone.can_move()
    assert not gone.move(1, "5", "h5")
    assert gone.state() == "STOPPED"
    assert gone.batch_s() is None
