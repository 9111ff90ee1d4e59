"""A session's queries, by the progress that they remember."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rheostat.doctor.binding import bindings
from rheostat.doctor.examination import _progress


def event(batch: int, rows: int, whole_ms: int) -> dict[str, Any]:
    planning_ms = 3000
    return {
        "id": "1",
        "runId": "2",
        "name": "orders",
        "timestamp": f"2026-01-31T09:{batch:02d}:00.000Z",
        "batchId": batch,
        "numInputRows": rows,
        "durationMs": {
            "triggerExecution": whole_ms,
            "addBatch": whole_ms - planning_ms,
            "queryPlanning": planning_ms,
        },
        "stateOperators": [],
        "sources": [],
        "sink": {"description": "files"},
    }


def test_a_live_session_whose_batches_are_planned_for_seconds_is_bound_by_its_driver():
    events = [event(n, 100 * (n % 5), 3000 + 1 * (n % 5)) for n in range(1, 30)]
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(defaultParallelism=4),
        streams=SimpleNamespace(active=[SimpleNamespace(recentProgress=events)]),
    )
    (found,) = bindings(_progress(spark))
    assert (found.query, found.kind) == ("orders", "driver")
    assert "queryPlanning 3.00 s" in found.line
