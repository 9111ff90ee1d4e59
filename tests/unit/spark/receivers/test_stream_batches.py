from __future__ import annotations

from typing import Any

import pytest

from rheostat.model import InFlight
from rheostat.spark.receivers.dstreams_sensor import read_batches, read_interval, signals

MADE_S = 1_795_503_418.0
"""2026-11-24T06:56:58 in Unix seconds."""


def batch(
    made: str, status: str, rows: int, waited: int | None = None, took: int | None = None
) -> dict[str, Any]:
    return {
        "batchId": 1,
        "batchTime": f"2026-11-24T{made}.000GMT",
        "status": status,
        "batchDuration": 2000,
        "inputSize": rows,
        "schedulingDelay": waited,
        "processingTime": took,
    }


PAGE = [
    batch("06:57:02", "QUEUED", 50),
    batch("06:57:00", "PROCESSING", 40, waited=500),
    batch("06:56:58", "COMPLETED", 30, waited=100, took=1500),
]


def test_batches_are_read_oldest_first():
    read = read_batches(PAGE)
    assert read is not None
    assert [(each.at_s - MADE_S, each.status, each.rows) for each in read] == [
        (0.0, "COMPLETED", 30),
        (2.0, "PROCESSING", 40),
        (4.0, "QUEUED", 50),
    ]


@pytest.mark.parametrize("page", [None, [{"status": "QUEUED"}], {"message": "no"}])
def test_a_page_that_is_none_shows_no_batches(page):
    assert read_batches(page) is None


def test_the_batches_tell_rate_lag_latency_and_what_runs():
    seen = signals(read_batches(PAGE) or (), 2.0, MADE_S + 5.0)
    assert seen == {
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


def test_before_the_first_batch_nothing_is_known():
    assert signals([], 2.0, MADE_S) == {
        "trigger_s": 2.0,
        "in_flight": None,
        "input_rows_per_s": None,
    }


def test_batches_without_rows_wait_for_nothing():
    seen = signals(read_batches([batch("06:57:02", "QUEUED", 0)]) or (), 2.0, MADE_S + 5.0)
    assert (seen["lag_rows"], seen["lag_s"], seen["lag_mean_s"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("page", "interval_s"), [({"batchDuration": 2000}, 2.0), (None, None), ({}, None)]
)
def test_the_interval_is_on_a_page_of_its_own(page, interval_s):
    class Pages:
        def get(self, name: str) -> Any:
            return page if name == "streaming/statistics" else None

    assert read_interval(Pages()) == interval_s
