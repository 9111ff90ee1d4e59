from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.spark.internals.placed_tasks import HOLDS, PlacedTasks


class Rdd:
    """An RDD of rows with preferred locations; it records which of its tasks are run."""

    def __init__(self, rows: Sequence[Any], ran: list[tuple[Any, list[int]]]) -> None:
        self.rows, self._ran = rows, ran

    def toJavaRDD(self) -> Rdd:  # noqa: N802 - Spark's name
        return self

    glom = keys = toJavaRDD

    def getNumPartitions(self) -> int:  # noqa: N802 - Spark's name
        return len(self.rows)

    def zip(self, other: Rdd) -> Rdd:
        assert len(other.rows) == len(self.rows)
        return self

    def collectPartitions(self, numbers: list[int]) -> None:  # noqa: N802 - Spark's name
        self._ran.append((self.rows, numbers))


@pytest.fixture
def ran() -> list[tuple[Any, list[int]]]:
    return []


@pytest.fixture
def tasks(gateway: Callable[..., Any], ran: list[tuple[Any, list[int]]]) -> PlacedTasks:
    fake_gateway = gateway(SimpleNamespace(makeRDD=lambda rows, tag: Rdd(rows, ran)))
    return PlacedTasks(fake_gateway)


def plan(partitions: int) -> Any:
    return SimpleNamespace(execute=lambda: Rdd(range(partitions), []))


def test_every_row_prefers_the_given_executor(tasks: PlacedTasks) -> None:
    rows = tasks.rows_on("7", "node-b", 2).rows
    assert [places for _, places in rows] == [("executor_node-b_7",)] * 2


def test_rows_keep_their_own_locations(tasks: PlacedTasks) -> None:
    assert tasks.rows_at([(3, ["executor_a_1"]), (4, [])], "java.lang.Integer").rows == (
        (3, ("executor_a_1",)),
        (4, ()),
    )


@given(st.integers(1, 12), st.sets(st.integers(0, 40), min_size=1))
def test_task_numbers_wrap_around(partitions: int, numbers: set[int]) -> None:
    ran: list[tuple[Any, list[int]]] = []
    gateway: Any = SimpleNamespace(
        jvm=SimpleNamespace(
            int=int, scala=SimpleNamespace(Tuple2=lambda *pair: pair, reflect=_tags())
        ),
        spark=None,
        context=None,
        scala_context=SimpleNamespace(makeRDD=lambda rows, tag: Rdd(rows, ran)),
        sequence=tuple,
        array=lambda kind, items: list(items),
        class_named=str,
    )
    PlacedTasks(gateway).run(plan(partitions), "7", "a", numbers)
    ((rows, chosen),) = ran
    assert len(rows) == partitions
    assert chosen == sorted({number % partitions for number in numbers})


def _tags() -> Any:
    return SimpleNamespace(ClassTag=SimpleNamespace(apply=lambda kind: kind))


def test_an_executor_is_held_by_one_sleeping_task_per_slot(
    gateway: Callable[..., Any], ran: list[tuple[Any, list[int]]]
) -> None:
    slept: list[str] = []

    def sleeping(expression: str) -> Any:
        slept.append(expression)
        execution = SimpleNamespace(executedPlan=lambda: plan(2))
        return SimpleNamespace(_jdf=SimpleNamespace(queryExecution=lambda: execution))

    fake_gateway = gateway(
        SimpleNamespace(makeRDD=lambda rows, tag: Rdd(rows, ran)),
        settings={"spark.executor.cores": "2"}.items(),
    )
    fake_gateway.spark.range = lambda *bounds: SimpleNamespace(selectExpr=sleeping)
    assert PlacedTasks(fake_gateway).hold("7", "a", 1.25, "a group") == 2
    assert slept == ["java_method('java.lang.Thread', 'sleep', 1250L)"]
    assert fake_gateway.context.groups == [("a group", HOLDS)]
    assert [numbers for _, numbers in ran] == [[0, 1]]


def test_uncountable_tasks_count_as_zero(gateway: Callable[..., Any], absent: Any) -> None:
    assert PlacedTasks(gateway(SimpleNamespace(statusStore=lambda: absent))).tasks_done("2") == 0
