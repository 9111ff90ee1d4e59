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

    def __init__(self, java_text: Callable[[str], Any]) -> None:
        self._java_text = java_text
        self.hidden: list[Any] = []

    def getMemoryStatus(self) -> Any:  # noqa: N802 - Spark's name
        return self._java_text(STATUS)

    def getPeers(self, driver: str) -> Any:  # noqa: N802 - Spark's name
        return self._java_text(PEERS)

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
def managers_of(gateway: Callable[..., Any]) -> Callable[..., BlockManagers]:
    def make(master: Any, scala: Any = None, classes: Any = None) -> BlockManagers:
        fake_gateway = gateway(scala)
        lookup = SimpleNamespace(publicLookup=lambda: Handles(master))
        kinds = SimpleNamespace(methodType=lambda kind: kind)
        fake_gateway.jvm.java.lang.invoke = SimpleNamespace(MethodHandles=lookup, MethodType=kinds)
        compiled: Any = classes or Classes()
        return BlockManagers(fake_gateway, compiled)

    return make


def test_the_master_provides_reachable_preferred_and_hidden_executors(
    managers_of: Callable[..., BlockManagers], java_text: Callable[[str], Any]
) -> None:
    master = Master(java_text)
    managers = managers_of(master)
    assert managers.reachable() == {"1": "a"}
    assert managers.preferred() == ["2"]
    assert managers.hide(["1", "2"])
    assert master.hidden == [("1", "2")]


def test_a_spark_without_the_calls_has_no_hosts_and_hides_nothing(
    managers_of: Callable[..., BlockManagers], absent: Any
) -> None:
    managers = managers_of(absent)
    assert managers.reachable() is None
    assert managers.preferred() == []
    assert not managers.hide(["1"])


def test_new_executors_are_hidden_by_one_removable_listener(
    managers_of: Callable[..., BlockManagers], java_text: Callable[[str], Any]
) -> None:
    master, listeners = Master(java_text), Listeners()
    managers = managers_of(master, listeners)
    assert managers.hide_newcomers(True)
    assert listeners.known == [("HideNewcomers", master)]
    assert managers.hide_newcomers(False)
    assert listeners.known == []


def test_new_executors_are_not_hidden_without_a_compiler(
    managers_of: Callable[..., BlockManagers], java_text: Callable[[str], Any], no_compiler: Any
) -> None:
    assert not managers_of(Master(java_text), Listeners(), no_compiler).hide_newcomers(True)


def test_unrelated_errors_are_not_treated_as_a_missing_call(
    managers_of: Callable[..., BlockManagers],
) -> None:
    def broken() -> Any:
        raise ValueError("a fault of ours")

    with pytest.raises(ValueError, match="of ours"):
        managers_of(SimpleNamespace(getMemoryStatus=broken)).reachable()
