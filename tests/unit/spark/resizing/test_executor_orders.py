from __future__ import annotations

from typing import Any

import pytest

from rheostat.protocols.orders import Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.spark.resizing.rescale_controller import ExecutorOrders


class Cluster:
    """Records its calls, and those to its executors."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []
        self.executors = self
        self.can_decommission = True
        self.announced: list[str] = []
        self.leaving = self.announced.append

    def __getattr__(self, name: str) -> Any:
        return lambda what: self.calls.append((name, what))


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


def orders(cluster: Any, warmth: Any = None) -> ExecutorOrders:
    return ExecutorOrders(cluster, cluster, warmth)


@pytest.mark.parametrize(
    ("order", "call"),
    [
        (Request(4), ("request_total", 4)),
        (Hide(("1", "2")), ("hide", ["1", "2"])),
        (Decommission(("1",)), ("decommission", ["1"])),
        (Kill(("1",)), ("kill", ["1"])),
    ],
)
def test_an_order_becomes_a_call(order: Order, call: tuple[str, object]) -> None:
    cluster = Cluster()
    orders(cluster).carry_out(order, {})
    assert cluster.calls == [call]


def test_graceful_leaving_is_announced_and_otherwise_idle_executors_are_killed():
    cluster = Cluster()
    orders(cluster).carry_out(Decommission(("1", "2")), {})
    assert cluster.announced == ["1", "2"]
    cluster.can_decommission = False
    orders(cluster).carry_out(Decommission(("3",)), {})
    assert cluster.calls[-1] == ("kill_idle", ["3"])
    assert cluster.announced == ["1", "2"]


def test_only_reachable_executors_are_warmed_up():
    warmth = Warmth()
    executor_orders = orders(Cluster(), warmth)
    for executor in ("2", "3"):
        executor_orders.carry_out(WarmUp(executor), {"2": "host"})
    assert warmth.begun == [("2", "host")]
    assert executor_orders.cold({"1", "2"}) == {"2"}
    executor_orders.end()
    assert warmth.closed


@pytest.mark.parametrize("warmth", [None, Warmth(available=False)])
def test_without_warm_up_no_executor_is_cold(warmth):
    executor_orders = orders(Cluster(), warmth)
    executor_orders.carry_out(WarmUp("2"), {"2": "host"})
    assert executor_orders.cold({"1", "2"}) == set()
    executor_orders.end()
