from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals.executors import Executors


class Backend:
    """The scheduler's backend, which records its requests."""

    def __init__(self) -> None:
        self.ended: list[tuple[Any, ...]] = []
        self.left: list[tuple[Any, ...]] = []

    def killExecutors(self, *arguments: Any) -> None:  # noqa: N802 - Spark's name
        self.ended.append(arguments)

    def decommissionExecutors(self, *arguments: Any) -> None:  # noqa: N802 - Spark's name
        self.left.append(arguments)


class Scala:
    """Spark's own context of an application with three executors."""

    def __init__(self, ids: Any, backend: Any) -> None:
        self._ids, self._backend = ids, backend
        self.requests: list[tuple[Any, ...]] = []

    def schedulerBackend(self) -> Any:  # noqa: N802 - Spark's name
        return self._backend

    def getExecutorIds(self) -> Any:  # noqa: N802 - Spark's name
        return self._ids

    def requestTotalExecutors(self, *arguments: Any) -> bool:  # noqa: N802 - Spark's name
        self.requests.append(arguments)
        return True


@pytest.fixture
def scala(sequence: Callable[..., Any]) -> Scala:
    return Scala(sequence("10", "9", "2"), Backend())


@pytest.fixture
def executors(gateway: Callable[..., Any], scala: Scala) -> Executors:
    fake_gateway = gateway(scala)
    fake_gateway.jvm.org = SimpleNamespace(
        apache=SimpleNamespace(
            spark=SimpleNamespace(
                scheduler=SimpleNamespace(ExecutorDecommissionInfo=lambda why, _: why)
            )
        )
    )
    return Executors(fake_gateway, SimpleNamespace(reachable=lambda: None))  # type: ignore[arg-type]


def test_executor_ids_are_listed_oldest_first(executors: Executors) -> None:
    assert executors.ids() == ["2", "9", "10"]
    assert executors.registered() == 3


def test_without_host_information_all_registered_executors_count(
    executors: Executors,
) -> None:
    assert executors.hosts() == {"2": "", "9": "", "10": ""}


def test_a_total_is_requested_without_locality_preferences(
    executors: Executors, scala: Scala
) -> None:
    assert executors.request_total(5)
    assert scala.requests == [(5, 0, {})]


def test_only_busy_executors_are_killed_forcibly(executors: Executors, scala: Scala) -> None:
    executors.kill_idle(["2"])
    executors.kill(["9"])
    backend = scala.schedulerBackend()
    assert backend.ended == [(("2",), False, False, False), (("9",), False, False, True)]


def test_decommissioned_executors_receive_the_reason(executors: Executors, scala: Scala) -> None:
    executors.decommission(["9", "10"])
    why = "rheostat scales in"
    assert scala.schedulerBackend().left == [([("9", why), ("10", why)], False, False)]


def test_capabilities_depend_on_the_available_methods_and_the_settings(
    gateway: Callable[..., Any], scala: Scala
) -> None:
    hosts: Any = SimpleNamespace(reachable=dict)
    on = [("spark.decommission.enabled", "TRUE")]
    can = Executors(gateway(scala, settings=on), hosts)
    cannot = Executors(
        gateway(SimpleNamespace(schedulerBackend=object, getExecutorIds=list), settings=on), hosts
    )
    off = Executors(gateway(scala), hosts)
    assert (can.can_request, can.can_decommission) == (True, True)
    assert (off.can_request, off.can_decommission) == (True, False)
    assert (cannot.can_request, cannot.can_decommission) == (False, False)
