from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals.block_managers import BlockManagers

STATUS = "HashMap(BlockManagerId(1, a, 40001, None) -> (1,2))"
PEERS = "Vector(BlockManagerId(2, b, 40002, None))"


class Master:
    """Spark's BlockManagerMaster."""

    def __init__(self, told: Callable[[str], Any]) -> None:
        self._told = told
        self.hidden: list[Any] = []

    def getMemoryStatus(self) -> Any:  # noqa: N802 - Spark's name
        return self._told(STATUS)

    def getPeers(self, driver: str) -> Any:  # noqa: N802 - Spark's name
        return self._told(PEERS)

    def decommissionBlockManagers(self, executors: Any) -> None:  # noqa: N802 - Spark's name
        self.hidden.append(executors)


class Handles:
    """Java's method handles, which call the method of a name."""

    def __init__(self, master: Any) -> None:
        manager = SimpleNamespace(master=lambda: master, blockManagerId=lambda: "driver")
        self._environment = SimpleNamespace(blockManager=lambda: manager)

    def findStatic(self, kind: Any, name: str, _: Any) -> Any:  # noqa: N802 - Java's name
        assert (kind, name) == ("org.apache.spark.SparkEnv", "get")
        return SimpleNamespace(invokeWithArguments=lambda nothing: self._environment)

    def findVirtual(self, kind: Any, name: str, _: Any) -> Any:  # noqa: N802 - Java's name
        return SimpleNamespace(invokeWithArguments=lambda of: getattr(of[0], name)())


class Listeners:
    """The listeners of a SparkContext."""

    def __init__(self) -> None:
        self.known: list[Any] = []

    def addSparkListener(self, listener: Any) -> None:  # noqa: N802 - Spark's name
        self.known.append(listener)

    def removeSparkListener(self, listener: Any) -> None:  # noqa: N802 - Spark's name
        self.known.remove(listener)


class Classes:
    """Compiles nothing: an object consists of its constructor arguments."""

    def in_driver(self, name: str, *arguments: Any) -> Any:
        return (name, *arguments)


@pytest.fixture
def made(gateway: Callable[..., Any]) -> Callable[..., BlockManagers]:
    def make(master: Any, scala: Any = None, classes: Any = None) -> BlockManagers:
        found = gateway(scala)
        lookup = SimpleNamespace(publicLookup=lambda: Handles(master))
        kinds = SimpleNamespace(methodType=lambda kind: kind)
        found.jvm.java.lang.invoke = SimpleNamespace(MethodHandles=lookup, MethodType=kinds)
        compiled: Any = classes or Classes()
        return BlockManagers(found, compiled)

    return make


def test_the_reachable_the_preferred_and_the_hidden_are_asked_of_the_master(
    made: Callable[..., BlockManagers], told: Callable[[str], Any]
) -> None:
    master = Master(told)
    managers = made(master)
    assert managers.reachable() == {"1": "a"}
    assert managers.preferred() == ["2"]
    assert managers.hide(["1", "2"])
    assert master.hidden == [("1", "2")]


def test_a_spark_without_the_calls_tells_no_hosts_and_hides_nobody(
    made: Callable[..., BlockManagers], absent: Any
) -> None:
    managers = made(absent)
    assert managers.reachable() is None
    assert managers.preferred() == []
    assert not managers.hide(["1"])


def test_newcomers_are_hidden_by_one_listener_that_is_taken_back(
    made: Callable[..., BlockManagers], told: Callable[[str], Any]
) -> None:
    master, listeners = Master(told), Listeners()
    managers = made(master, listeners)
    assert managers.hide_newcomers(True)
    assert listeners.known == [("HideNewcomers", master)]
    assert managers.hide_newcomers(False)
    assert listeners.known == []


def test_without_a_compiler_newcomers_are_not_hidden(
    made: Callable[..., BlockManagers], told: Callable[[str], Any], no_compiler: Any
) -> None:
    assert not made(Master(told), Listeners(), no_compiler).hide_newcomers(True)


def test_a_fault_that_is_no_missing_call_is_not_taken_for_one(
    made: Callable[..., BlockManagers],
) -> None:
    def broken() -> Any:
        raise ValueError("a fault of ours")

    with pytest.raises(ValueError, match="of ours"):
        made(SimpleNamespace(getMemoryStatus=broken)).reachable()
