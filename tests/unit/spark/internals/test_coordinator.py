from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals.coordinator import Coordinator


class Places:
    """Spark's coordinator, with one store that an executor holds."""

    def __init__(self, told: Callable[[str], Any]) -> None:
        self._told = told
        self.reports: list[tuple[Any, ...]] = []

    def getLocation(self, store: str) -> Any:  # noqa: N802 - Spark's name
        return self._told("Some(executor_node_b_3)" if store == "held" else "None")

    def reportActiveInstance(self, *report: Any) -> None:  # noqa: N802 - Spark's name
        self.reports.append(report)


def session(places: Any) -> Any:
    return SimpleNamespace(streams=lambda: SimpleNamespace(stateStoreCoordinator=lambda: places))


@pytest.fixture
def made(gateway: Callable[..., Any]) -> Callable[..., Coordinator]:
    def make(places: Any, hosts: dict[str, str] | None = None) -> Coordinator:
        managers: Any = SimpleNamespace(reachable=lambda: hosts)
        return Coordinator(gateway(session=session(places)), managers)

    return make


def test_a_store_is_where_the_coordinator_says_and_a_report_sends_it_elsewhere(
    made: Callable[..., Coordinator], told: Callable[[str], Any]
) -> None:
    places = Places(told)
    coordinator = made(places)
    assert [coordinator.place(store) for store in ("held", "lost")] == ["executor_node_b_3", None]
    assert coordinator.locations(("held", "lost")) == ["3", None]
    assert coordinator.locations(()) == []
    coordinator.report("held", "a", "4")
    assert places.reports == [("held", "a", "4", ())]


def test_many_stores_are_asked_for_in_one_call_where_java_finds_the_method(
    gateway: Callable[..., Any], told: Callable[[str], Any]
) -> None:
    """Java's list applies a function to all its elements; each copy of it is evaluated again."""

    class Stores(list[Any]):
        add = list.append

        def clone(self) -> Stores:
            return Stores(self)

        def replaceAll(self, function: Callable[[Any], Any]) -> None:  # noqa: N802 - Java's name
            self[:] = [function(store) for store in self]

        def toString(self) -> str:  # noqa: N802 - Java's name
            return f"[{', '.join(map(str, self))}]"

    made = gateway(session=session(Places(told)))
    made.jvm.java.util.ArrayList = Stores
    handles = SimpleNamespace(
        publicLookup=lambda: SimpleNamespace(bind=lambda of, name, _: getattr(of, name))
    )
    made.jvm.java.lang.invoke = SimpleNamespace(
        MethodType=SimpleNamespace(methodType=lambda *_: None),
        MethodHandles=handles,
        MethodHandleProxies=SimpleNamespace(asInterfaceInstance=lambda _, handle: handle),
    )
    managers: Any = SimpleNamespace(reachable=dict)
    coordinator = Coordinator(made, managers)
    asked: tuple[tuple[str, ...], ...] = ((), ("held", "lost"), ("lost", "held", "held"), ())
    found = [coordinator.locations(stores) for stores in asked]
    assert found == [[], ["3", None], [None, "3", "3"], []]


def test_why_state_cannot_be_placed_is_said_in_one_line(
    made: Callable[..., Coordinator], gateway: Callable[..., Any], told: Callable[[str], Any]
) -> None:
    assert made(Places(told), {"1": "a"}).cannot_place() is None
    assert "the hosts of its executors" in (made(Places(told)).cannot_place() or "")
    lacks = made(SimpleNamespace(getLocation=None), {"1": "a"}).cannot_place()
    assert lacks == "this Spark's state store coordinator has no reportActiveInstance"


def test_a_spark_without_a_coordinator_is_told(gateway: Callable[..., Any], absent: Any) -> None:
    managers: Any = SimpleNamespace(reachable=dict)
    assert "no accessible state store coordinator" in (
        Coordinator(gateway(session=absent), managers).cannot_place() or ""
    )
