from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException

from rheostat.signals.rhythm import BatchTime, Rhythm
from rheostat.spark.warming.warmup import (
    DEADLINE_S,
    FIRST_READING_S,
    HOLDS,
    PAUSE_WITHIN_S,
    ROOM_S,
    Warmup,
)

BATCH_S = 0.75


@dataclass
class Query:
    runId: str = "a"  # noqa: N815 - PySpark's name
    lastProgress: Any = "a batch"  # noqa: N815
    python: bool = True
    harmless: bool = True
    pauses: Iterator[float] = field(default_factory=lambda: itertools.repeat(FIRST_READING_S))
    """The remaining seconds of its pause, at each read."""
    longest_s: float = FIRST_READING_S


@dataclass
class Tasks:
    fault: Exception | None = None
    ran: list[tuple[str, str]] = field(default_factory=list)
    warmed_up: list[tuple[str, str, str]] = field(default_factory=list)
    loaded: list[tuple[str, str, int]] = field(default_factory=list)
    """Query, executor, and the number of reads of the query before."""
    pause_reads: int = 0
    held: list[tuple[str, str, float]] = field(default_factory=list)
    forbidden: Exception | None = None
    """Spark's error when an executor is held."""
    takes_s: float = 0.0
    """Seconds of a warm-up of the source."""
    clock: Clock | None = None
    given: int = 0
    """Number of tasks that the executor got from a batch."""
    gate: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def uses_python(self, query: Query) -> bool:
        return query.python

    def tasks_done(self, executor: str) -> int:
        return len(self.ran) + (0 if self.forbidden else len(self.held)) + self.given

    def hold(self, executor: str, host: str, for_s: float, group: str) -> int:
        self.held.append((executor, host, for_s))
        if self.forbidden:
            raise self.forbidden
        return 1

    def of(self, query: Query) -> Rhythm:
        """Return a rhythm of batches of ``BATCH_S`` that leaves the longest pause."""
        return Rhythm(trigger_s=query.longest_s + BATCH_S).after(BatchTime(1, 0.0, BATCH_S))

    def pause_left_s(self, query: Query, now: float) -> float:
        self.pause_reads += 1
        return next(query.pauses)

    def compute_again(self, query: Query, executor: str, host: str, group: str) -> bool:
        self.loaded.append((query.runId, executor, self.pause_reads))
        return True

    def read_again(self, query: Query, executor: str, host: str, group: str) -> bool:
        if self.clock:
            self.clock.now += self.takes_s
        if query.harmless:
            self.warmed_up.append((query.runId, executor, host))
        return query.harmless

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


def warmup_of(tasks: Any, active: Callable[[], list[Query]], **options: Any) -> Warmup:
    return Warmup(tasks, tasks, tasks, active, **options)


def warmed(warmup: Warmup, tasks: Tasks, executor: str, host: str = "h1") -> frozenset[str]:
    warmup.begin(executor, host)
    tasks.gate.set()
    join(executor)
    return warmup.ready()


def join(executor: str) -> None:
    for thread in threading.enumerate():
        if thread.name == f"rheostat-warm-up-{executor}":
            thread.join(10)


def test_warm_up_is_unavailable_before_the_first_batch() -> None:
    query = Query(lastProgress=None)
    warmup = warmup_of(Tasks(), lambda: [query])
    assert not warmup.available
    query.lastProgress = "a batch"
    assert warmup.available


def test_python_workers_start_only_if_a_running_query_needs_them() -> None:
    tasks, queries = Tasks(), [Query("a", python=False)]
    warmup = warmup_of(tasks, lambda: queries)
    assert warmed(warmup, tasks, "3") == {"3"}
    assert tasks.ran == []
    queries.append(Query("b"))
    assert warmed(warmup, tasks, "4") == {"3", "4"}
    assert tasks.ran == [("4", "h1")]


def test_sources_are_read_for_every_query_that_has_run_a_batch() -> None:
    tasks = Tasks()
    warmup = warmup_of(
        tasks,
        lambda: [Query("a"), Query("b", harmless=False), Query("c", lastProgress=None), Query("d")],
    )
    warmed(warmup, tasks, "3")
    assert tasks.warmed_up == [("a", "3", "h1"), ("d", "3", "h1")]


def test_warm_up_work_waits_for_sufficiently_long_pauses() -> None:
    tasks, pause_lengths_s = (
        Tasks(),
        [0.0, ROOM_S / 2, ROOM_S, FIRST_READING_S, ROOM_S / 2, 0.0, ROOM_S],
    )
    warmed(warmup_of(tasks, lambda: [Query("a", pauses=iter(pause_lengths_s))]), tasks, "3")
    assert tasks.held == []
    assert tasks.warmed_up == [("a", "3", "h1")]
    assert tasks.loaded == [("a", "3", len(pause_lengths_s))]


def test_an_executor_arriving_in_a_short_pause_is_held_through_the_next_batch() -> None:
    tasks, pauses = Tasks(), itertools.chain([0.4, 0.0], itertools.repeat(FIRST_READING_S))
    warmed(warmup_of(tasks, lambda: [Query("a", pauses=pauses)]), tasks, "3")
    assert [(executor, host) for executor, host, _ in tasks.held] == [("3", "h1")]
    assert tasks.held[0][-1] == pytest.approx(0.4 + BATCH_S)
    assert (len(tasks.warmed_up), len(tasks.loaded)) == (1, 1)


@pytest.mark.parametrize(
    ("pauses_s", "held", "read"),
    [([0.4, 0.0, 0.6, 0.6, 0.0, FIRST_READING_S], 2, 1), ([0.4], HOLDS, 0)],
)
def test_an_executor_is_held_repeatedly_but_not_forever(
    pauses_s: list[float], held: int, read: int
) -> None:
    tasks, seconds = Tasks(), itertools.count(step=PAUSE_WITHIN_S / 4)
    query = Query(
        "a", python=False, pauses=itertools.chain(pauses_s, itertools.repeat(pauses_s[-1]))
    )
    warmed(warmup_of(tasks, lambda: [query], clock=lambda: float(next(seconds))), tasks, "3")
    assert (len(tasks.held), len(tasks.warmed_up)) == (held, read)


def test_no_executor_is_held_if_no_pause_will_be_long_enough() -> None:
    tasks, query = (
        Tasks(),
        Query(
            longest_s=FIRST_READING_S - 0.1,
            pauses=itertools.chain([0.4], itertools.repeat(FIRST_READING_S)),
        ),
    )
    warmed(warmup_of(tasks, lambda: [query]), tasks, "3")
    assert tasks.held == []


def test_no_executor_is_held_for_a_query_without_warm_up_work() -> None:
    tasks, query = Tasks(), Query(python=False, harmless=False)
    warmup = warmup_of(tasks, lambda: [query])
    for executor in ("3", "4"):
        query.pauses = itertools.chain([0.4], itertools.repeat(FIRST_READING_S))
        warmed(warmup, tasks, executor)
    assert [executor for executor, *_ in tasks.held] == ["3"]


def test_the_required_pause_is_the_median_of_recent_warm_ups() -> None:
    clock = Clock()
    tasks, query = Tasks(clock=clock, takes_s=2.0), Query(python=False, longest_s=9.0)
    warmup = warmup_of(tasks, lambda: [query], clock=clock)
    reads = []
    for executor in ("3", "4", "5"):
        query.pauses = itertools.chain(
            [0.0, 0.0, FIRST_READING_S, 0.0, FIRST_READING_S], itertools.repeat(2.0)
        )
        before = tasks.pause_reads
        warmed(warmup, tasks, executor)
        reads.append(tasks.loaded[-1][-1] - before)
        tasks.takes_s = 1.0
    assert reads == [5, 7, 5]


def test_an_executor_with_a_source_task_warms_up_only_the_state() -> None:
    tasks = Tasks(given=1)
    warmed(warmup_of(tasks, lambda: [Query("a")]), tasks, "3")
    assert tasks.warmed_up == []
    assert [(query, executor) for query, executor, _ in tasks.loaded] == [("a", "3")]


def test_without_a_long_pause_a_batch_provides_the_first_source_task() -> None:
    tasks = Tasks()

    def pauses() -> Iterator[float]:
        yield from (0.0, ROOM_S)
        tasks.given = 1
        yield from (0.0, ROOM_S, 0.0, ROOM_S)

    warmed(warmup_of(tasks, lambda: [Query("a", pauses=pauses())]), tasks, "3")
    assert (tasks.warmed_up, tasks.loaded) == ([], [("a", "3", 4)])


def test_standby_executors_load_no_state() -> None:
    tasks = Tasks()
    warmed(warmup_of(tasks, lambda: [Query("a")], loads=False), tasks, "3")
    assert (len(tasks.warmed_up), tasks.loaded) == (1, [])


def test_no_state_is_computed_if_the_source_must_not_be_read() -> None:
    tasks = Tasks()
    warmed(warmup_of(tasks, lambda: [Query("a", harmless=False)]), tasks, "3")
    assert tasks.loaded == []


def test_a_query_without_pauses_is_not_awaited_for_long() -> None:
    tasks, seconds = Tasks(), itertools.count(step=PAUSE_WITHIN_S / 4)
    warmup = warmup_of(
        tasks,
        lambda: [Query("a", pauses=itertools.repeat(0.0))],
        clock=lambda: float(next(seconds)),
    )
    warmup.begin("3", "h1")
    tasks.gate.set()
    join("3")
    assert tasks.warmed_up == []
    assert tasks.pause_reads < 10


def test_a_query_whose_recent_batches_left_no_pause_is_not_awaited() -> None:
    tasks = Tasks()
    warmed(
        warmup_of(tasks, lambda: [Query("a", longest_s=ROOM_S / 2), Query("b")]),
        tasks,
        "3",
    )
    assert [query for query, *_ in tasks.warmed_up] == ["b"]


def test_an_executor_is_warm_only_when_its_task_has_ended() -> None:
    tasks = Tasks()
    warmup = warmup_of(tasks, lambda: [Query()])
    warmup.begin("3", "h1")
    assert warmup.ready() == frozenset()
    assert warmed(warmup, tasks, "3") == {"3"}
    assert tasks.ran == [("3", "h1")]


def test_a_rejected_hold_is_tried_once_and_warm_up_continues() -> None:
    tasks, query = Tasks(forbidden=AnalysisException("java_method is off")), Query(python=False)
    warmup = warmup_of(tasks, lambda: [query])
    for executor in ("3", "4"):
        query.pauses = itertools.chain([0.4], itertools.repeat(FIRST_READING_S))
        warmed(warmup, tasks, executor)
    assert [executor for executor, *_ in tasks.held] == ["3"]
    assert [executor for _, executor, _ in tasks.warmed_up] == ["3", "4"]


@pytest.mark.parametrize("fault", [Py4JError("it has gone"), AnalysisException("no such column")])
def test_an_executor_gets_its_state_even_if_its_task_fails(fault: Exception) -> None:
    tasks = Tasks(fault=fault)
    assert warmed(warmup_of(tasks, lambda: [Query()]), tasks, "3") == {"3"}


def test_an_executor_is_awaited_no_longer_than_the_deadline() -> None:
    tasks, clock = Tasks(), Clock()
    warmup = warmup_of(tasks, lambda: [Query()], clock=clock)
    warmup.begin("3", "h1")
    clock.now = DEADLINE_S
    assert warmup.ready() == frozenset()
    clock.now += 0.1
    assert warmup.ready() == {"3"}
    tasks.gate.set()


def test_a_closed_warm_up_does_nothing() -> None:
    tasks = Tasks()
    closed = warmup_of(tasks, lambda: [Query()])
    closed.close()
    assert not closed.available
    assert warmed(closed, tasks, "3") == frozenset()
    assert tasks.ran == []
