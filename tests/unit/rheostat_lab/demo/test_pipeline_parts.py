from __future__ import annotations

from typing import Any

import pytest

from rheostat.errors import RheostatError
from rheostat.model import Record, Rescaling
from rheostat.spark.sensing.progress import batch_of
from rheostat_lab.demo.pipeline import committed_batches, executor_lives, requested
from rheostat_lab.report.finished_run import ExecutorLife


def record(t_s: float, target: int | None) -> Record:
    return Record(
        t_s=t_s,
        observation=None,
        queries=(),
        raw=None,
        guards=(),
        target=target,
        actions=(),
        rescaling=Rescaling(phase="steady"),
    )


def requests(records: list[Record], *registered_s: float) -> list[float | None]:
    return [
        life.requested_s
        for life in requested(
            [ExecutorLife(str(at), None, at, None) for at in registered_s], records
        )
    ]


def test_an_executor_is_attributed_to_the_last_raise_before_its_registration():
    records = [record(t, target) for t, target in ((10, 1), (20, 3), (30, 3), (40, 5), (50, 2))]
    assert requests(records, 5, 22, 25, 45, 60) == [None, 20, 20, 40, 40]


def test_ticks_without_a_target_are_not_raises():
    assert requests([record(10, None), record(20, 3), record(30, None), record(40, 3)], 45) == [
        None
    ]
    assert requests([], 45) == [None]


def test_a_raise_after_a_tick_without_an_observation_counts():
    records = [record(10, 1), record(20, None), record(30, 3), record(40, None), record(50, 2)]
    assert requests(records, 5, 25, 35, 60) == [None, None, 30, 30]


def test_other_attributes_of_an_executor_are_unchanged():
    life = ExecutorLife("7", None, 30.0, 50.0)
    assert requested([life], [record(10, 1), record(20, 2)]) == [ExecutorLife("7", 20, 30.0, 50.0)]


class RecordedPages:
    """The REST interface of a driver with some pages."""

    def __init__(self, **pages: Any) -> None:
        self._pages = pages

    def get(self, page: str) -> Any:
        return self._pages.get(page)


EXECUTOR = {
    "id": "0",
    "maxTasks": 2,
    "isActive": True,
    "totalDuration": 1000,
    "addTime": "1970-01-01T00:00:30.000GMT",
}


def test_executors_and_failed_tasks_are_read_from_the_driver():
    pages = RecordedPages(allexecutors=[EXECUTOR], jobs=[{"numFailedTasks": 2}])
    assert executor_lives(pages, []) == ([ExecutorLife("0", None, 30.0, None)], 2)


@pytest.mark.parametrize(
    "pages",
    [
        RecordedPages(jobs=[]),
        RecordedPages(allexecutors=[], jobs=[]),
        RecordedPages(allexecutors=[EXECUTOR]),
    ],
)
def test_an_unresponsive_driver_is_an_error(pages):
    with pytest.raises(RheostatError, match="the driver does not report its executors"):
        executor_lives(pages, [])


def progress(batch: int, rows: int, source: dict[str, Any]) -> Any:
    return batch_of(
        {
            "name": "q1",
            "runId": "r",
            "batchId": batch,
            "timestamp": "2026-11-28T10:00:00.000Z",
            "numInputRows": rows,
            "durationMs": {"triggerExecution": 1000},
            "sources": [{"numInputRows": rows, **source}],
            "stateOperators": [],
            "sink": {},
        }
    )


def test_file_rows_are_counted_from_the_first_batch():
    files = {"description": "FileStreamSource[file:/data]", "endOffset": {"logOffset": 1}}
    batches = committed_batches([progress(1, 5, files), progress(0, 30, files)])
    assert [(batch.first_row, batch.end_row) for batch in batches] == [(0, 30), (30, 35)]


def test_kafka_rows_are_counted_by_offset():
    first, last = (
        {
            "description": "KafkaV2[x]",
            "startOffset": {"t": {"0": start}},
            "endOffset": {"t": {"0": start + rows}},
        }
        for start, rows in ((70, 10), (80, 20))
    )
    batches = committed_batches([progress(3, 10, first), progress(5, 20, last)])
    assert [(batch.first_row, batch.end_row) for batch in batches] == [(70, 80), (80, 100)]
