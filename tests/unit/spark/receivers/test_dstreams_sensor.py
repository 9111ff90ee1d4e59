from __future__ import annotations

from typing import Any

from rheostat.spark.receivers.dstreams_sensor import DStreamsSensor

NOW_S = 1_795_503_420.0
PAGE = [
    {
        "batchTime": "2026-11-24T06:56:58.000GMT",
        "status": "COMPLETED",
        "inputSize": 30,
        "schedulingDelay": 0,
        "processingTime": 1500,
    }
]


class Pages:
    def __init__(self, page: Any) -> None:
        self.page = page

    def get(self, page: str) -> Any:
        assert page == "streaming/batches"
        return self.page


def sensor(page: Any, batch_s: float | None = 2.0, active: bool = True) -> DStreamsSensor:
    pages: Any = Pages(page)
    return DStreamsSensor(pages, "app-1", 4, lambda: batch_s, lambda: active, lambda: 3)


def test_a_streaming_context_is_one_observation():
    (observation,) = sensor(PAGE).observe(NOW_S)
    assert (observation.executors, observation.target, observation.slots_per_executor) == (
        3,
        None,
        4,
    )
    assert (observation.batch_s, observation.trigger_s, observation.input_rows_per_s) == (
        1.5,
        2.0,
        15.0,
    )


def test_without_pages_or_interval_only_the_executors_are_known():
    for limited in (sensor(None), sensor(PAGE, batch_s=None)):
        (observation,) = limited.observe(NOW_S)
        assert (observation.executors, observation.batch_s, observation.trigger_s) == (
            3,
            None,
            None,
        )


def test_a_stopped_context_is_not_observed():
    assert sensor(PAGE, active=False).observe(NOW_S) == ()
