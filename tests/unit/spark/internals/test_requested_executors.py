from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals.executors import Executors


class Map:
    """A Scala map, as py4j presents it."""

    def __init__(self, *counts: int) -> None:
        self.counts = counts

    def valuesIterator(self) -> Map:  # noqa: N802
        return self

    def mkString(self, between: str) -> str:  # noqa: N802
        return between.join(map(str, self.counts))


class Kind:
    """A Java class that has the field, or whose superclass has it."""

    def __init__(self, name: str, counts: Map | None = None, above: Kind | None = None) -> None:
        self.getSimpleName = lambda: name
        self.getSuperclass = lambda: above
        self.getDeclaredField = lambda field: self
        self.setAccessible = lambda accessible: None
        self.get = lambda of: counts


class Older:
    """A scheduler backend of Spark before 4.3."""

    def __init__(self, kind: Kind) -> None:
        self.getClass = lambda: kind


class Newer:
    """A scheduler backend of Spark 4.3."""

    def getRequestedTotalExecutors(self) -> Map:  # noqa: N802
        return Map(2, 1)


FIELD = Kind("CoarseGrainedSchedulerBackend", Map(3))


@pytest.mark.parametrize(
    ("backend", "executors"),
    [
        (Newer(), 3),
        (Older(Kind("StandaloneSchedulerBackend", above=FIELD)), 3),
        (Older(Kind("CoarseGrainedSchedulerBackend", Map())), None),
        (Older(Kind("OwnBackend")), None),
        (object(), None),
    ],
)
def test_the_requested_total_is_read_where_spark_exposes_it(
    gateway: Callable[..., Any], backend: Any, executors: int | None
) -> None:
    context = SimpleNamespace(schedulerBackend=lambda: backend)
    managers: Any = SimpleNamespace()
    assert Executors(gateway(context), managers).requested() == executors
