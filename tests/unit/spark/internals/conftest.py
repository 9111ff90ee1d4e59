"""A JVM of Python objects, limited to what the internals use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from rheostat.spark.internals.gateway import Gateway


class ArrayList(list[Any]):
    """Java's list, as Python fills it."""

    add = list.append


class Sequence(tuple[Any, ...]):
    """Scala's sequence, as Python reads it."""

    def size(self) -> int:
        return len(self)

    def apply(self, i: int) -> Any:
        return self[i]

    def mkString(self, between: str) -> str:  # noqa: N802 - Scala's name
        return between.join(map(str, self))


class JavaText(str):
    """A Java object of which only the text is read."""

    __slots__ = ()

    def toString(self) -> str:  # noqa: N802 - Java's name
        return str(self)


class Absent:
    """py4j's object for a class whose methods do not exist."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*_: object) -> Any:
            raise Py4JError(f"Method {name} does not exist")

        return call


@dataclass
class Context:
    """PySpark's SparkContext around a Scala one."""

    scala: Any
    jvm: Any
    settings: dict[str, str] = field(default_factory=dict)
    groups: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._jvm = self.jvm
        self._jsc: Any = SimpleNamespace(sc=lambda: self.scala)
        self._gateway = SimpleNamespace(new_array=lambda _, size: [None] * size)

    def getConf(self) -> dict[str, str]:  # noqa: N802 - PySpark's name
        return self.settings

    def setJobGroup(self, group: str, job: str, interruptOnCancel: bool) -> None:  # noqa: N802, N803
        assert not interruptOnCancel
        self.groups.append((group, job))


def jvm_with(**packages: Any) -> Any:
    """Return a JVM with Java's lists and PySpark's conversions, and a test's additions."""
    util = SimpleNamespace(ArrayList=ArrayList, HashMap=dict, UUID=SimpleNamespace(fromString=str))
    lang = SimpleNamespace(Class=SimpleNamespace(forName=str), Object=object, String=str)
    python = SimpleNamespace(toSeq=Sequence, toScalaMap=dict)
    scala = SimpleNamespace(
        Tuple2=lambda *pair: pair,
        Option=SimpleNamespace(empty=lambda: None),
        reflect=SimpleNamespace(ClassTag=SimpleNamespace(apply=lambda kind: kind)),
    )
    own: dict[str, Any] = {
        "java": SimpleNamespace(util=util, lang=lang),
        "PythonUtils": python,
        "scala": scala,
        "int": int,
    }
    return SimpleNamespace(**own | packages)


def gateway_to(
    scala: Any = None,
    jvm: Any = None,
    settings: Iterable[tuple[str, str]] = (),
    session: Any = None,
) -> Gateway:
    """Return a gateway to a JVM with this Scala SparkContext and this Scala session."""
    context = Context(scala or SimpleNamespace(), jvm or jvm_with(), dict(settings))
    return Gateway(SimpleNamespace(sparkContext=context, _jsparkSession=session))


@pytest.fixture
def gateway() -> Callable[..., Gateway]:
    """Return a function that makes a gateway to a JVM of Python objects."""
    return gateway_to


@pytest.fixture
def jvm() -> Callable[..., Any]:
    """Return a function that makes a JVM of Python objects."""
    return jvm_with


@pytest.fixture
def absent() -> Absent:
    """An object of the JVM without methods."""
    return Absent()


@pytest.fixture
def sequence() -> Callable[..., Sequence]:
    """Return a function that makes a Scala sequence."""
    return lambda *items: Sequence(items)


@pytest.fixture
def java_text() -> Callable[[str], JavaText]:
    """Return a function that makes a JVM object of which only the text is read."""
    return JavaText


class NoCompiler:
    """A Spark without its compiler in the expected place."""

    def in_driver(self, name: str, *_: Any) -> Any:
        raise TypeError("'JavaPackage' object is not callable")


@pytest.fixture
def no_compiler() -> NoCompiler:
    """Compiled classes if nothing can be compiled."""
    return NoCompiler()
