from __future__ import annotations

from typing import Any

import pytest

from rheostat.protocols.orders import Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.spark.resizing.rescale_controller import ExecutorOrders
from rheostat.spark.resizing.rescale_ports import RescaleConfig


class Cluster:
    """Records its calls."""

    def __init__(self) -> None:
        self.said: list[tuple[str, object]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda what: self.said.append((name, what))


class Warmth:
    """Warms executors; the first is warm."""

    def __init__(self, available: bool = True) -> None:
        self.available, self.closed = available, False
        self.begun: list[tuple[str, str]] = []

    def begin(self, executor: str, host: str) -> None:
        self.begun.append((executor, host))

    def ready(self) -> frozenset[str]:
        return frozenset({"1"})

    def close(self) -> None:
        self.closed = True


def orders(cluster: Any, warmth: Any = None, **terms: Any) -> ExecutorOrders:
    return ExecutorOrders(cluster, cluster, warmth, RescaleConfig(**terms))


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (Request(4), ("request_total", 4)),
        (Hide(("1", "2")), ("hide", ["1", "2"])),
        (Decommission(("1",)), ("decommission", ["1"])),
        (Kill(("1",)), ("kill", ["1"])),
    ],
)
def test_an_order_becomes_a_call(order: Order, said: tuple[str, object]) -> None:
    cluster = Cluster()
    orders(cluster).carry_out(order, {})
    assert cluster.said == [said]


def test_those_that_leave_gracefully_are_told_of_and_others_end_when_they_are_idle():
    cluster, leaving = Cluster(), list[str]()
    orders(cluster, leaving=leaving.append).carry_out(Decommission(("1", "2")), {})
    assert leaving == ["1", "2"]
    orders(cluster, graceful=False, leaving=leaving.append).carry_out(Decommission(("3",)), {})
    assert cluster.said[-1] == ("kill_idle", ["3"])
    assert leaving == ["1", "2"]


def test_an_executor_is_warmed_that_can_be_reached():
    warmth = Warmth()
    one = orders(Cluster(), warmth)
    for executor in ("2", "3"):
        one.carry_out(WarmUp(executor), {"2": "host"})
    assert warmth.begun == [("2", "host")]
    assert one.cold({"1", "2"}) == {"2"}
    one.end()
    assert warmth.closed


@pytest.mark.parametrize("warmth", [None, Warmth(available=False)])
def test_where_none_can_be_warmed_none_is_cold(warmth):
    one = orders(Cluster(), warmth)
    one.carry_out(WarmUp("2"), {"2": "host"})
    assert one.cold({"1", "2"}) == set()
    one.end()
