from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.spark.running_queries import Rhythms, RunningQueries
from rheostat.spark.sensing.state_stores import Operator

TRIGGER_S = 10.0
STATEFUL = [{"operatorName": "stateStoreSave", "numShufflePartitions": 4}]


class Query:
    """A running query, as PySpark presents it."""

    def __init__(self, run_id: str) -> None:
        self.runId = run_id
        self.status = {
            "message": "Waiting for data to arrive",
            "isDataAvailable": False,
            "isTriggerActive": False,
        }
        self.lastProgress: dict[str, object] | None = None
        self.number = -1

    def end_batch(self, operators: list[dict[str, object]], **parts: int) -> None:
        self.number += 1
        self.lastProgress = {"stateOperators": operators, "durationMs": parts}


class Streams:
    """The JVM's side of the queries; checkpoints have no metadata."""

    def __init__(self, root: str) -> None:
        self._root = root

    def last_batch(self, query):
        return query.number

    def last_batches(self, queries):
        return {run_id: query.number for run_id, query in queries.items()}

    def state_folder(self, query):
        return f"{self._root}/{query.runId}/state"

    def trigger_s(self, query):
        return TRIGGER_S

    def batch_times(self, query, most):
        return []

    def pauses_after(self, query):
        return None


def running(
    *queries: Query, root: str = "file:", on_object_stores: bool = False, loads: bool = False
) -> RunningQueries:
    session = SimpleNamespace(streams=SimpleNamespace(active=list(queries)))
    files, streams = MemoryFileSystem(), cast("Any", Streams(root))
    known = RunningQueries(session, streams, files, Rhythms(streams), on_object_stores, loads)
    assert list(known.refresh()) == [query.runId for query in queries]
    return known


def test_queries_are_identified_by_their_run():
    query = Query("a")
    queries = running(query, Query("b"))
    query.end_batch([])
    assert queries.batches() == {"a": 0, "b": -1}


def test_a_query_is_idle_without_a_batch_once_its_trigger_is_overdue():
    query = Query("a")
    queries = running(query)
    assert queries.idle("a", 2 * TRIGGER_S)
    assert not queries.idle("a", TRIGGER_S)
    query.status = {
        "message": "Processing new data",
        "isDataAvailable": True,
        "isTriggerActive": True,
    }
    assert not queries.idle("a", 2 * TRIGGER_S)


def test_the_stores_of_a_query_are_known_after_its_first_batch():
    query = Query("a")
    queries = running(query)
    assert queries.state("a") is None
    query.end_batch(STATEFUL, addBatch=5)
    assert queries.state("a") == ("file:/a/state", (Operator(0, 4, ("default",)),))


def test_only_a_progress_with_a_batch_determines_the_state():
    query = Query("a")
    queries = running(query)
    query.end_batch([], latestOffset=1)
    assert queries.state("a") is None
    query.end_batch(STATEFUL, addBatch=5)
    assert queries.state("a") is not None
    query.end_batch([], addBatch=5)
    assert queries.state("a") is None
    query.end_batch(STATEFUL, addBatch=5)
    assert queries.state("a") is None, "its plan was known to have no state"


@pytest.mark.parametrize(
    ("root", "on_object_stores", "moves"),
    [("s3a://b", False, False), ("s3a://b", True, True), ("hdfs://n", False, True)],
)
def test_state_on_an_object_store_moves_only_if_its_soak_has_passed(
    root: str, on_object_stores: bool, moves: bool, caplog: pytest.LogCaptureFixture
) -> None:
    query = Query("a")
    queries = running(query, root=root, on_object_stores=on_object_stores)
    query.end_batch(STATEFUL, addBatch=5)
    assert [queries.state("a") is not None for _ in range(2)] == [moves, moves]
    assert len([line for line in caplog.messages if "s3a://b/a/state" in line]) == (not moves)


@pytest.mark.parametrize(
    ("root", "loads", "is_loaded"),
    [("s3a://b", False, False), ("s3a://b", True, True), ("hdfs://n", False, True)],
)
def test_only_batches_load_state_from_an_object_store_whose_soak_had_no_pauses(
    root: str, loads: bool, is_loaded: bool
) -> None:
    query = Query("a")
    queries = running(query, root=root, on_object_stores=True, loads=loads)
    assert queries.loadable() == [query] * is_loaded
