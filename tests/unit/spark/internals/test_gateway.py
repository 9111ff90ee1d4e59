from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from rheostat.spark.internals.gateway import has_ended


class Kind:
    """A Java class with private fields and a superclass."""

    def __init__(self, name: str, above: Kind | None = None, **fields: Any) -> None:
        self._name, self._above, self._fields = name, above, fields

    def getSimpleName(self) -> str:  # noqa: N802 - Java's name
        return self._name

    def getSuperclass(self) -> Kind | None:  # noqa: N802 - Java's name
        return self._above

    def getDeclaredField(self, name: str) -> Any:  # noqa: N802 - Java's name
        if name not in self._fields:
            raise Py4JError(f"java.lang.NoSuchFieldException: {name}")
        opened: list[bool] = []

        def get(of: Any) -> Any:
            assert opened == [True]
            return self._fields[name]

        return SimpleNamespace(setAccessible=opened.append, get=get)


def test_a_private_field_is_read_from_the_class_or_a_named_superclass(
    gateway: Callable[..., Any],
) -> None:
    kind = Kind("Traced", Kind("MicroBatchExecution", ids="above"), ids="own")
    thing = SimpleNamespace(getClass=lambda: kind)
    assert gateway().field(thing, "ids") == "own"
    assert gateway().field(thing, "ids", "MicroBatchExecution") == "above"
    with pytest.raises(Py4JError, match="NoSuchField"):
        gateway().field(thing, "versions")


@pytest.mark.parametrize("fault", [Py4JError("gone"), ConnectionRefusedError()])
def test_an_application_with_an_unresponsive_jvm_has_ended(
    gateway: Callable[..., Any], fault: Exception
) -> None:
    def answer() -> bool:
        raise fault

    assert gateway(SimpleNamespace(isStopped=answer)).stopped()


@pytest.mark.parametrize("stopped", [True, False])
def test_an_application_has_ended_when_its_context_is_stopped(
    gateway: Callable[..., Any], stopped: bool
) -> None:
    assert gateway(SimpleNamespace(isStopped=lambda: stopped)).stopped() is stopped


def test_a_context_without_a_jvm_has_ended(gateway: Callable[..., Any]) -> None:
    fake_gateway = gateway(SimpleNamespace(isStopped=lambda: False))
    fake_gateway.context._jsc = None
    assert fake_gateway.stopped()


class DetachedContext:
    """A stopped context of PySpark, which has no JVM any more."""

    @property
    def applicationId(self) -> str:  # noqa: N802 - PySpark's name
        return str(None.sc())  # type: ignore[attr-defined]  # what PySpark's own does


class Remote:
    """A Spark Connect session."""

    is_stopped = False


Remote.__module__ = "pyspark.sql.connect.session"


def test_a_session_has_ended_when_its_context_has_no_jvm() -> None:
    running = SimpleNamespace(sparkContext=SimpleNamespace(applicationId="app-1"))
    assert not has_ended(running)
    assert has_ended(SimpleNamespace(sparkContext=DetachedContext()))


def test_a_spark_connect_session_reports_its_own_end() -> None:
    remote = Remote()
    assert not has_ended(remote)
    remote.is_stopped = True
    assert has_ended(remote)


def test_a_session_with_a_lost_connection_has_ended() -> None:
    class Context:
        @property
        def applicationId(self) -> str:  # noqa: N802 - PySpark's name
            raise Py4JError("Answer from Java side is empty")

    assert has_ended(SimpleNamespace(sparkContext=Context()))
