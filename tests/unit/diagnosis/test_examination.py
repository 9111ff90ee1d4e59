"""The findings on a session's queries, from their recent progress."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.diagnosis.examination import (
    _progress,
    _query,
    _reads_all,
    _real_time,
    _release,
    _slots,
    examine,
)
from rheostat.journal.bindings import bindings
from rheostat.spark.sensing.progress import batch_of


def event(batch: int, rows: int, total_ms: int) -> dict[str, Any]:
    planning_ms = 3000
    return {
        "id": "1",
        "runId": "2",
        "name": "orders",
        "timestamp": f"2026-01-31T09:{batch:02d}:00.000Z",
        "batchId": batch,
        "numInputRows": rows,
        "durationMs": {
            "triggerExecution": total_ms,
            "addBatch": total_ms - planning_ms,
            "queryPlanning": planning_ms,
        },
        "stateOperators": [],
        "sources": [],
        "sink": {"description": "files"},
    }


def test_a_session_with_long_planning_is_bound_by_its_driver():
    events = [event(n, 100 * (n % 5), 3000 + 1 * (n % 5)) for n in range(1, 30)]
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(defaultParallelism=4),
        streams=SimpleNamespace(active=[SimpleNamespace(recentProgress=events)]),
    )
    (bottleneck,) = bindings(_progress(spark))
    assert (bottleneck.query, bottleneck.kind) == ("orders", "driver")
    assert "queryPlanning 3.00 s" in bottleneck.line


def test_a_query_in_real_time_mode_reports_its_slots():
    stages = [SimpleNamespace(numTasks=8, numCompletedTasks=0)] * 2
    tracker = SimpleNamespace(getActiveStageIds=lambda: [0, 1], getStageInfo=stages.__getitem__)
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(defaultParallelism=20, statusTracker=lambda: tracker),
        streams=SimpleNamespace(active=[SimpleNamespace(name="orders"), SimpleNamespace(name="b")]),
    )
    read = {"orders": 300.0, "b": None}
    queries: Any = SimpleNamespace(real_time_s=lambda query: read[query.name])
    (finding,) = _real_time(spark, queries)
    assert finding.topic == "real-time mode of orders"
    assert finding.line.startswith("batches of 300 s hold 16 slots at once")


@pytest.mark.parametrize(
    ("master", "trigger_s", "state", "line"),
    [
        ("spark://host:7077", None, "good", "all executors are released 60 s after the last query"),
        ("yarn", 600.0, "good", "all executors are released 60 s after the last query"),
        ("k8s://host", 10.0, "advice", "min executors is 0, but query orders runs continuously"),
        ("local[2]", None, "idle", "master local[2] has no executors to scale"),
    ],
)
def test_a_minimum_of_0_is_examined(
    master: str, trigger_s: float | None, state: str, line: str
) -> None:
    settings = {"spark.rheostat.limits.min": "0", "spark.decommission.enabled": "true"}
    conf = SimpleNamespace(get=lambda name, default="": settings.get(name, default))
    conf.getAll = settings.items
    query = SimpleNamespace(name="orders", id="1")
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(master=master, getConf=lambda: conf),
        streams=SimpleNamespace(active=[query]),
    )
    queries: Any = SimpleNamespace(trigger_s=lambda _: trigger_s, real_time_s=lambda _: None)
    (finding,) = _release(spark, queries)
    assert (finding.state, finding.line.startswith(line)) == (state, True)
    assert (finding.setting == "spark.rheostat.limits.min=1") == (state == "advice")
    settings["spark.rheostat.limits.min"] = "1"
    assert list(_release(spark, queries)) == []


def kafka(batch: int, taken: int, there: int) -> dict[str, Any]:
    """Return the progress of a batch that read a topic up to ``taken`` of ``there`` rows."""
    source = {
        "description": "KafkaV2[Subscribe[orders]]",
        "startOffset": {"orders": {"0": 0}},
        "endOffset": {"orders": {"0": taken}},
        "latestOffset": {"orders": {"0": there}},
        "numInputRows": 1,
        "inputRowsPerSecond": 1.0,
    }
    return {**event(batch, 1, 3100), "sources": [source]}


@pytest.mark.parametrize(
    ("events", "all_read"),
    [
        ([], None),
        ([event(1, 5, 3100)], None),
        ([kafka(1, 9, 9)], True),
        ([kafka(1, 9, 9), kafka(2, 10, 11)], False),
        ([event(1, 5, 3100), kafka(2, 11, 11)], True),
    ],
)
def test_a_query_reads_all_if_every_batch_takes_all_available_rows(
    events: list[dict[str, Any]], all_read: bool | None
) -> None:
    assert _reads_all([batch_of(event_) for event_ in events]) is all_read


@pytest.mark.parametrize(
    ("cores", "slots"), [(None, None), ("8", 8), (12, 12), ("many", None), ("", None), ("-1", None)]
)
def test_slots_are_the_configured_maximum_cores_if_numeric(cores: Any, slots: int | None) -> None:
    spark = SimpleNamespace(conf=SimpleNamespace(get=lambda name, default: cores))
    assert _slots(spark) == slots


def stateful(partitions: int) -> dict[str, Any]:
    operator = {"numRowsTotal": 3, "memoryUsedBytes": 9, "numShufflePartitions": partitions}
    return {**event(1, 5, 3100), "stateOperators": [operator]}


@pytest.mark.parametrize("events", [[], [event(1, 5, 3100)]])
def test_a_query_without_state_or_batch_has_no_shape(events: list[dict[str, Any]]) -> None:
    assert _query(None, None, SimpleNamespace(recentProgress=events)) is None


def test_a_remote_session_is_examined_without_access_to_its_driver() -> None:
    settings = {"spark.sql.shuffle.partitions": "24"}
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    remote.version = "4.0.1"
    remote.conf = SimpleNamespace(get=lambda name, default=None: settings.get(name, default))
    remote.streams = SimpleNamespace(active=[SimpleNamespace(recentProgress=[stateful(200)])] * 2)
    report = examine(remote)
    by_topic = {finding.topic: finding for finding in report}
    assert by_topic["live scaling"].line.startswith("Spark Connect: a remote session")
    assert by_topic["state partitions of orders"].state == "advice"
    assert by_topic["state partitions of new queries"].state == "good"
    # Two queries of the same shape are reported once.
    assert len(by_topic) == len(report)
    lines = str(report).splitlines()
    assert lines[0].startswith("idle   live scaling: Spark Connect: a remote session")
    assert repr(report) == str(report)
