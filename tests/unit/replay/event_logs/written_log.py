"""An event log of a query with a known load, in Spark's format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

STREAMING = "org.apache.spark.sql.streaming.StreamingQueryListener$"
START_S = 1_700_000_000.0
TASKS = 12


def stamp(t_s: float) -> str:
    return datetime.fromtimestamp(t_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def progress(batch: int, begin_s: float, batch_s: float, offsets: tuple[int, int, int]) -> Any:
    first, last, latest = offsets
    return {
        "id": "q-1",
        "runId": "r-1",
        "name": "orders",
        "timestamp": stamp(begin_s),
        "batchId": batch,
        "durationMs": {"triggerExecution": round(batch_s * 1000), "addBatch": 1, "latestOffset": 0},
        "stateOperators": [],
        "sources": [
            {
                "description": "KafkaV2[Subscribe[orders]]",
                "startOffset": {"orders": {"0": first // 2, "1": first - first // 2}},
                "endOffset": {"orders": {"0": last // 2, "1": last - last // 2}},
                "latestOffset": {"orders": {"0": latest // 2, "1": latest - latest // 2}},
                "numInputRows": last - first,
            }
        ],
        "sink": {},
    }


def event(kind: str, **values: Any) -> str:
    return json.dumps({"Event": kind, **values}, separators=(",", ":"))


def written_log(
    rate: Callable[[float], float],
    batches: int,
    row_s: float = 0.002,
    executors: int = 2,
    fixed_s: float = 0.5,
    most_rows: int | None = None,
) -> Iterator[str]:
    """Yield the lines of a query that runs batches back to back, with a fixed cost plus ``row_s``
    executor seconds per row, and at most ``most_rows`` rows in a batch.
    """
    yield event("SparkListenerLogStart", **{"Spark Version": "4.0.1"})
    properties = {"spark.task.cpus": "1", "spark.dynamicAllocation.enabled": "true"}
    yield event("SparkListenerEnvironmentUpdate", **{"Spark Properties": properties})
    start = {"App Name": "shop", "App ID": "app-1", "Timestamp": START_S * 1000}
    yield event("SparkListenerApplicationStart", **start)
    for number in range(executors):
        yield executor_added(START_S + 0.1, str(number))
    yield event(f"{STREAMING}QueryStartedEvent", id="q-1", runId="r-1", name="orders")
    t_s, arrived, done = START_S + 1.0, 100.0, 0
    for batch in range(batches):
        latest = int(arrived)
        last = latest if most_rows is None else min(latest, done + most_rows)
        batch_s = fixed_s + (last - done) * row_s / executors
        if most_rows is not None:  # no two real batches last equally long
            batch_s += 0.001 * (batch % 7)
        job = {"sql.streaming.queryId": "q-1", "streaming.sql.batchId": str(batch)}
        yield event("SparkListenerJobStart", **{"Stage IDs": [batch], "Properties": job})
        for number in range(TASKS):
            yield task(batch, str(number % executors), (last - done) * row_s / TASKS)
        yield event(
            f"{STREAMING}QueryProgressEvent",
            progress=progress(batch, t_s, batch_s, (done, last, latest)),
        )
        arrived += rate(t_s - START_S) * batch_s
        t_s, done = t_s + round(batch_s, 3), last
    yield event("SparkListenerApplicationEnd", Timestamp=t_s * 1000)


def executor_added(t_s: float, executor: str, cores: int = 1) -> str:
    info = {"Host": "h", "Total Cores": cores, "Request Time": t_s * 1000 - 4000}
    values = {"Executor ID": executor, "Timestamp": t_s * 1000}
    return event(
        "SparkListenerExecutorAdded",
        **values,
        **{"Executor Info": {**info, "Registration Time": t_s * 1000}},
    )


def task(stage: int, executor: str, run_s: float) -> str:
    info = {"Executor ID": executor, "Failed": False}
    metrics = {"Executor Run Time": run_s * 1000, "JVM GC Time": 1, "Disk Bytes Spilled": 0}
    values = {"Stage ID": stage, "Task Info": info, "Task Metrics": metrics}
    return event("SparkListenerTaskEnd", **values)
