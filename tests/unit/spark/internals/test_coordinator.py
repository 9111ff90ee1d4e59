from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals.coordinator import Coordinator


class Places:
    """Spark's coordinator, with one store that an executor holds."""

    def __init__(self, java_text: Callable[[str], Any]) -> None:
        self._java_text = java_text
        self.reports: list[tuple[Any, ...]] = []

    def getLocation(self, store: str) -> Any:  # noqa: N802 - Spark's name
        return self._java_text("Some(executor_node_b_3)" if store == "held" else "None")

    def reportActiveInstance(self, *report: Any) -> None:  # noqa: N802 - Spark's name
        self.reports.append(report)


def session(places: Any) -> Any:
    return SimpleNamespace(streams=lambda: SimpleNamespace(stateStoreCoordinator=lambda: places))


@pytest.fixture
def make_coordinator(gateway: Callable[..., Any]) -> Callable[..., Coordinator]:
    def make(places: Any, hosts: dict[str, str] | None = None) -> Coordinator:
        managers: Any = SimpleNamespace(reachable=lambda: hosts)
        return Coordinator(gateway(session=session(places)), managers)

    return make


def test_stores_are_located_and_moved_through_the_coordinator(
    make_coordinator: Callable[..., Coordinator], java_text: Callable[[str], Any]
) -> None:
    places = Places(java_text)
    coordinator = make_coordinator(places)
    assert [coordinator.place(store) for store in ("held", "lost")] == ["executor_node_b_3", None]
    assert coordinator.locations(("held", "lost")) == ["3", None]
    assert coordinator.locations(()) == []
    coordinator.report("held", "a", "4")
    assert places.reports == [("held", "a", "4", ())]


def test_many_stores_are_located_in_one_call_where_java_allows_it(
    gateway: Callable[..., Any], java_text: Callable[[str], Any]
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

    fake_gateway = gateway(session=session(Places(java_text)))
    fake_gateway.jvm.java.util.ArrayList = Stores
    handles = SimpleNamespace(
        publicLookup=lambda: SimpleNamespace(bind=lambda of, name, _: getattr(of, name))
    )
    fake_gateway.jvm.java.lang.invoke = SimpleNamespace(
        MethodType=SimpleNamespace(methodType=lambda *_: None),
        MethodHandles=handles,
        MethodHandleProxies=SimpleNamespace(asInterfaceInstance=lambda _, handle: handle),
    )
    managers: Any = SimpleNamespace(reachable=dict)
    coordinator = Coordinator(fake_gateway, managers)
    requests: tuple[tuple[str, ...], ...] = ((), ("held", "lost"), ("lost", "held", "held"), ())
    locations = [coordinator.locations(stores) for stores in requests]
    assert locations == [[], ["3", None], [None, "3", "3"], []]


def test_the_reason_why_state_cannot_be_placed_is_one_line(
    make_coordinator: Callable[..., Coordinator],
    gateway: Callable[..., Any],
    java_text: Callable[[str], Any],
) -> None:
    assert make_coordinator(Places(java_text), {"1": "a"}).cannot_place() is None
    assert "the hosts of its executors" in (
        make_coordinator(Places(java_text)).cannot_place() or ""
    )
    lacks = make_coordinator(SimpleNamespace(getLocation=None), {"1": "a"}).cannot_place()
    assert lacks == "this Spark's state store coordinator has no reportActiveInstance"


def test_a_missing_coordinator_is_reported(gateway: Callable[..., Any], absent: Any) -> None:
    managers: Any = SimpleNamespace(reachable=dict)
    assert "no accessible state store coordinator" in (
        Coordinator(gateway(session=absent), managers).cannot_place() or ""
    )
