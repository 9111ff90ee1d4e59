from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any, TypeAlias

import pytest

Event: TypeAlias = Callable[..., dict[str, Any]]
RUN = "11111111-2222-3333-4444-555555555555"
QUERY = "99999999-8888-7777-6666-555555555555"


def kafka_source(
    start: Any, end: Any, latest: Any, rate: float = 0.0, topic: str = "bids"
) -> dict[str, Any]:
    return {
        "description": f"KafkaV2[Subscribe[{topic}]]",
        "startOffset": start,
        "endOffset": end,
        "latestOffset": latest,
        "numInputRows": 999,
        "inputRowsPerSecond": rate,
        "processedRowsPerSecond": 1.0,
    }


@pytest.fixture
def kafka() -> Callable[..., dict[str, Any]]:
    """Return a function that makes a Kafka source's part of a progress event."""
    return kafka_source


@pytest.fixture
def event() -> Event:
    """Return a function that makes a progress event of PySpark 3.5: a dict with text IDs."""

    def make(
        batch_id: int,
        start_s: float,
        duration_s: float,
        sources: list[Mapping[str, Any]],
        **changes: Any,
    ) -> dict[str, Any]:
        stamp = (
            datetime.fromtimestamp(start_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
            + "Z"
        )
        return {
            "id": QUERY,
            "runId": RUN,
            "name": "q1",
            "timestamp": stamp,
            "batchId": batch_id,
            "batchDuration": round(duration_s * 1000),
            "numInputRows": 7,
            "inputRowsPerSecond": 1.0,
            "processedRowsPerSecond": 1.0,
            "durationMs": {
                "triggerExecution": round(duration_s * 1000),
                "addBatch": round(duration_s * 500),
            },
            "stateOperators": [],
            "sources": sources,
            "sink": {"description": "FileSink", "numOutputRows": -1},
            **changes,
        }

    return make
