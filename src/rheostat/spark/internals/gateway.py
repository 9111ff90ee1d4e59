"""Access to the driver's JVM; only this folder imports py4j and PySpark's private members."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from rheostat.spark.sensing.capabilities import is_connect

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
ABSENT = (Py4JError, AttributeError, TypeError)
"""The errors raised if this Spark lacks a method of the JVM, a private member of PySpark or a class
(py4j takes an unknown class name for a package, which cannot be called)."""

RAISED = (Py4JError, PySparkException)
"""The errors for a fault of the JVM; a session turns some Java exceptions into PySpark's."""


class Gateway:
    """The JVM of a classic session, and the conversion of Python values for it.

    * Calls: py4j's gateway, ``SparkContext.isStopped``, Java's reflection.
    * Without them: Rheostat can only observe; a failing call counts as the end of the application.
    * Spark 3.5 to 4.3.
    """

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self.context = spark.sparkContext
        self.jvm = self.context._jvm
        self.scala_context = self.context._jsc.sc()

    def stopped(self) -> bool:
        """Return whether the application has ended."""
        try:
            # PySpark drops its handle when it stops the context; the JVM may also stop by itself.
            return self.context._jsc is None or bool(self.scala_context.isStopped())
        except (Py4JError, OSError):  # the JVM has ended
            return True

    def sequence(self, items: Iterable[Any]) -> Any:
        """Return a Scala sequence."""
        # Spark's own function, because Scala 2.12 and 2.13 convert collections differently.
        return self._conversions.toSeq(self.listed(items))

    def listed(self, items: Iterable[Any]) -> Any:
        """Return a Java list."""
        made = self._array_list()
        for item in items:
            made.add(item)
        return made

    def array(self, kind: Any, items: Sequence[Any]) -> Any:
        """Return a Java array of a class."""
        made = self.context._gateway.new_array(kind, len(items))
        for i, item in enumerate(items):
            made[i] = item
        return made

    @functools.cached_property
    def empty_map(self) -> Any:
        """An immutable empty Scala map."""
        return self._conversions.toScalaMap(self.jvm.java.util.HashMap())

    # Cached: py4j resolves every part of a name in the JVM, and `java` alone takes a millisecond.
    @functools.cached_property
    def _conversions(self) -> Any:
        return self.jvm.PythonUtils

    @functools.cached_property
    def _array_list(self) -> Any:
        return self.jvm.java.util.ArrayList

    def class_named(self, name: str) -> Any:
        """Return a Java class; raises Py4JError if it does not exist."""
        return self.jvm.java.lang.Class.forName(name)

    def single(self, name: str) -> Any:
        """Return a Scala object."""
        return self.class_named(name).getField("MODULE$").get(None)

    def field(self, of: Any, name: str, class_name: str = "") -> Any:
        """Return a private field of an object or its superclass; raises Py4JError without one."""
        kind = of.getClass()
        while class_name and str(kind.getSimpleName()) != class_name:
            kind = kind.getSuperclass()
        field = kind.getDeclaredField(name)
        field.setAccessible(True)
        return field.get(of)


def items(sequence: Any) -> list[Any]:
    """Return the items of a Scala sequence."""
    return [sequence.apply(number) for number in range(sequence.size())]


def submitted() -> dict[str, str]:
    """Return the settings given to ``spark-submit`` if it started this process."""
    if _SUBMITTED not in os.environ:
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def has_ended(spark: Any) -> bool:
    """Return whether a session has been stopped, through public interfaces."""
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    try:
        return not spark.sparkContext.applicationId
    except (AttributeError, Py4JError, OSError):  # its context has released the JVM
        return True


def java_message(fault: Exception) -> str:
    """Return the first line of a fault's root cause."""
    if not isinstance(fault, Py4JJavaError):
        return str(fault).splitlines()[0]
    cause = fault.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return str(cause.toString()).splitlines()[0]
