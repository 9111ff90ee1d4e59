from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.signals.rhythm import BatchTime
from rheostat.spark.internals.stream_executions import Queries


def progress(number: int, took_ms: int, has_batch: bool = True) -> Any:
    parts = "addBatch=1, " if has_batch else ""
    durations = SimpleNamespace(toString=lambda: f"{{{parts}triggerExecution={took_ms}}}")
    return SimpleNamespace(
        batchId=lambda: number,
        timestamp=lambda: f"2026-01-01T00:00:{number:02d}.500Z",
        durationMs=lambda: durations,
    )


def query(events: Any = (), planned: int | None = None, active: bool = False) -> Any:
    """Return a query with these progress events and the plan of batch ``planned``."""
    execution = None if planned is None else SimpleNamespace(currentBatchId=lambda: planned)
    java = SimpleNamespace(
        lastProgress=lambda: events[-1] if events else None,
        recentProgress=lambda: list(events),
        status=lambda: SimpleNamespace(isTriggerActive=lambda: active),
        streamingQuery=lambda: SimpleNamespace(lastExecution=lambda: execution),
    )
    return SimpleNamespace(_jsq=java)


class LastBatchReader:
    """The data that ``LastBatches`` extracts from queries."""

    def __init__(self, queries: list[Any]) -> None:
        self._queries = queries

    def numbers(self) -> str:
        last = [query.lastProgress() for query in self._queries]
        return "".join(f"{-1 if event is None else event.batchId()} " for event in last)


class Classes:
    """Compiles nothing; counts the instances of its class."""

    instances = 0

    def in_driver(self, name: str, queries: list[Any]) -> LastBatchReader:
        assert name == "LastBatches"
        self.instances += 1
        return LastBatchReader(queries)


@pytest.fixture
def queries(gateway: Callable[..., Any]) -> Queries:
    classes: Any = Classes()
    return Queries(gateway(), classes)


@pytest.mark.parametrize("compiles", [True, False])
def test_the_last_batches_of_all_queries_are_returned_by_run(
    gateway: Callable[..., Any], no_compiler: Any, compiles: bool
) -> None:
    classes: Any = Classes() if compiles else no_compiler
    queries = Queries(gateway(), classes)
    both = {"a": query(), "b": query([progress(6, 100), progress(7, 100)])}
    assert queries.last_batches(both) == {"a": -1, "b": 7}
    assert queries.last_batches({"b": both["b"]}) == {"b": 7}
    assert queries.last_batches({}) == {}


def test_queries_are_passed_to_the_jvm_once(gateway: Callable[..., Any]) -> None:
    classes: Any = Classes()
    queries, one = Queries(gateway(), classes), {"a": query([progress(6, 100)])}
    for _ in range(3):
        assert queries.last_batches(dict(one)) == {"a": 6}
    assert classes.instances == 1


def test_the_last_batch_is_identified_by_its_number(queries: Queries) -> None:
    assert queries.last_batch(query()) == -1
    assert queries.last_batch(query([progress(6, 100), progress(7, 100)])) == 7


def test_batch_times_exclude_triggers_without_a_batch(queries: Queries) -> None:
    events = [progress(1, 900), progress(2, 800), progress(3, 5, has_batch=False)]
    batch_times = queries.batch_times(query(events), 2)
    assert batch_times == [BatchTime(2, 1767225602.5, 0.8)]
    assert queries.batch_times(query(events), 1) == queries.batch_times(query(), 1) == []
    assert queries.batch_times(query(events[:2]), 1) == [BatchTime(2, 1767225602.5, 0.8)]
    assert [batch.number for batch in queries.batch_times(query(events), 9)] == [1, 2]


@pytest.mark.parametrize(
    ("planned", "active", "after"),
    [(7, False, 7), (7, True, None), (8, False, None), (None, False, None)],
)
def test_a_query_pauses_when_no_trigger_is_active_and_its_plan_has_ended(
    queries: Queries, planned: int | None, active: bool, after: int | None
) -> None:
    assert queries.pauses_after(query([progress(7, 100)], planned, active)) == after


def test_a_query_does_not_pause_before_its_first_batch(queries: Queries) -> None:
    assert queries.pauses_after(query([], 0)) is None


@pytest.mark.parametrize(
    ("text", "interval_s"), [("ProcessingTimeTrigger(5000)", 5.0), ("OneTimeTrigger", None)]
)
def test_only_processing_time_triggers_have_an_interval(
    queries: Queries, java_text: Callable[[str], Any], text: str, interval_s: float | None
) -> None:
    trigger = SimpleNamespace(intervalMs=lambda: 5000, toString=lambda: text)
    java = SimpleNamespace(streamingQuery=lambda: SimpleNamespace(trigger=lambda: trigger))
    assert queries.trigger_s(SimpleNamespace(_jsq=java)) == interval_s


def test_values_that_spark_does_not_expose_are_absent(queries: Queries, absent: Any) -> None:
    unknown = SimpleNamespace(_jsq=absent)
    assert queries.trigger_s(unknown) is None
    assert queries.state_folder(unknown) is None


def test_a_spark_connect_query_has_no_jvm_values(queries: Queries) -> None:
    assert queries.trigger_s(object()) is None
    assert queries.state_folder(object()) is None
