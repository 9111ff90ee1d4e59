from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError

from rheostat.spark.warmup import DEADLINE_S, Warmup


@dataclass
class Query:
    runId: str = "a"  # noqa: N815 - PySpark's name
    lastProgress: Any = "a batch"  # noqa: N815
    python: bool = True


@dataclass
class Tasks:
    fault: Exception | None = None
    ran: list[tuple[str, str]] = field(default_factory=list)
    asked: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def uses_python(self, query: Query) -> bool:
        self.asked += 1
        return query.python

    def run_python_on(self, executor: str, host: str, work: Callable[[], None], group: str) -> None:
        self.gate.wait(10)
        self.ran.append((executor, host))
        self.ended.set()
        if self.fault:
            raise self.fault


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def warmed(warmup: Warmup, tasks: Tasks, executor: str, host: str = "h1") -> frozenset[str]:
    warmup.begin(executor, host)
    tasks.gate.set()
    for thread in threading.enumerate():
        if thread.name == f"rheostat-warm-up-{executor}":
            thread.join(10)
    return warmup.ready()


def test_executors_are_warmed_only_where_a_running_query_needs_python_workers() -> None:
    tasks, queries = Tasks(), [Query("a", python=False)]
    warmup = Warmup(tasks, lambda: queries)
    assert not warmup.available
    assert "needs Python" in warmup.reason
    queries.append(Query("b"))
    assert warmup.available
    assert warmup.reason == ""


def test_a_query_is_asked_once_and_not_before_its_first_batch() -> None:
    tasks, query = Tasks(), Query(lastProgress=None)
    warmup = Warmup(tasks, lambda: [query])
    assert not warmup.available
    assert tasks.asked == 0
    query.lastProgress = "a batch"
    assert warmup.available
    assert warmup.available
    assert tasks.asked == 1


def test_an_executor_is_warm_when_its_task_has_ended_and_not_before() -> None:
    tasks = Tasks()
    warmup = Warmup(tasks, lambda: [Query()])
    warmup.begin("3", "h1")
    assert warmup.ready() == frozenset()
    assert warmed(warmup, tasks, "3") == {"3"}
    assert tasks.ran == [("3", "h1")]


def test_an_executor_whose_task_fails_gets_its_state_all_the_same() -> None:
    tasks = Tasks(fault=Py4JError("it has gone"))
    assert warmed(Warmup(tasks, lambda: [Query()]), tasks, "3") == {"3"}


def test_an_executor_is_waited_for_no_longer_than_the_deadline() -> None:
    tasks, clock = Tasks(), Clock()
    warmup = Warmup(tasks, lambda: [Query()], clock=clock)
    warmup.begin("3", "h1")
    clock.now = DEADLINE_S
    assert warmup.ready() == frozenset()
    clock.now += 0.1
    assert warmup.ready() == {"3"}
    tasks.gate.set()


def test_off_and_closed_warm_nothing() -> None:
    tasks = Tasks()
    assert Warmup(tasks, lambda: [Query()], way="off").reason == "warm-up is off"
    closed = Warmup(tasks, lambda: [Query()])
    closed.close()
    assert not closed.available
    assert warmed(closed, tasks, "3") == frozenset()
    assert tasks.ran == []
