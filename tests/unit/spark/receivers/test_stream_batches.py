from __future__ import annotations

from typing import Any

import pytest

from rheostat.model import InFlight
from rheostat.spark.receivers.dstreams_sensor import read_batches, read_interval, signals

MADE_S = 1_795_503_418.0
"""2026-11-24T06:56:58 in Unix seconds."""


def batch(
    time: str, status: str, rows: int, delay_ms: int | None = None, processing_ms: int | None = None
) -> dict[str, Any]:
    return {
        "batchId": 1,
        "batchTime": f"2026-11-24T{time}.000GMT",
        "status": status,
        "batchDuration": 2000,
        "inputSize": rows,
        "schedulingDelay": delay_ms,
        "processingTime": processing_ms,
    }


PAGE = [
    batch("06:57:02", "QUEUED", 50),
    batch("06:57:00", "PROCESSING", 40, delay_ms=500),
    batch("06:56:58", "COMPLETED", 30, delay_ms=100, processing_ms=1500),
]


def test_batches_are_read_oldest_first():
    batches = read_batches(PAGE)
    assert batches is not None
    assert [(entry.at_s - MADE_S, entry.status, entry.rows) for entry in batches] == [
        (0.0, "COMPLETED", 30),
        (2.0, "PROCESSING", 40),
        (4.0, "QUEUED", 50),
    ]


@pytest.mark.parametrize("page", [None, [{"status": "QUEUED"}], {"message": "no"}])
def test_an_unreadable_page_has_no_batches(page):
    assert read_batches(page) is None


def test_batches_provide_rate_lag_latency_and_the_running_batch():
    observed = signals(read_batches(PAGE) or (), 2.0, MADE_S + 5.0)
    assert observed == {
        "trigger_s": 2.0,
        "in_flight": InFlight(elapsed_s=2.5, rows=40),
        "input_rows_per_s": 20.0,
        "lag_rows": 90.0,
        "lag_s": 5.0,
        "lag_mean_s": pytest.approx((40 * 4.0 + 50 * 2.0) / 90),
        "batch_s": 1.5,
        "batch_rows": 30,
        "processed_rows_per_s": 20.0,
        "latency_s": 2.6,
    }


def test_before_the_first_batch_signals_are_unknown():
    assert signals([], 2.0, MADE_S) == {
        "trigger_s": 2.0,
        "in_flight": None,
        "input_rows_per_s": None,
    }


def test_batches_without_rows_have_no_lag():
    observed = signals(read_batches([batch("06:57:02", "QUEUED", 0)]) or (), 2.0, MADE_S + 5.0)
    assert (observed["lag_rows"], observed["lag_s"], observed["lag_mean_s"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("page", "interval_s"), [({"batchDuration": 2000}, 2.0), (None, None), ({}, None)]
)
def test_the_interval_is_read_from_the_statistics_page(page, interval_s):
    class Pages:
        def get(self, name: str) -> Any:
            return page if name == "streaming/statistics" else None

    assert read_interval(Pages()) == interval_s
