from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.spark.sensing.test_sensor import Query, Session, sensor_of

from rheostat.sources.backlog_reader import Amount, Backlog
from rheostat.sources.readers import reader_of
from rheostat.sources.reported_backlog import ReportedBacklog


class Bytes:
    """A source with rows of 10 bytes; offsets are bytes, and ``newest`` is its end."""

    def __init__(self) -> None:
        self.newest: float = 0
        self.fault: Exception | None = None
        self.closed = 0

    def backlog(self, source: Any, now: float) -> Backlog | None:
        if self.fault:
            raise self.fault
        return Backlog(now, Amount(self.newest - source["endOffset"], "bytes"))

    def between(self, start: Any, end: Any) -> Amount | None:
        return Amount(end - (start or 0), "bytes")

    def close(self) -> None:
        self.closed += 1
        if self.fault:
            raise self.fault


def entry(start: Any, end: Any, rows: int, **more: Any) -> dict[str, Any]:
    offsets = {"startOffset": str(start), "endOffset": str(end), "latestOffset": None}
    return {
        "description": "X[a]",
        "numInputRows": rows,
        "inputRowsPerSecond": 1.0,
        **offsets,
        **more,
    }


@pytest.fixture
def observed(event):
    """Return a function that observes a query of one source with a reader."""

    def make(reader: Any) -> SimpleNamespace:
        query = Query()
        sensor = sensor_of(Session(query), readers=lambda *_: reader)

        def batch(number: int, start_s: float, *sources: Any) -> None:
            rows = sum(source["numInputRows"] for source in sources)
            query.lastProgress = event(number, start_s, 1.0, list(sources), numInputRows=rows)

        return SimpleNamespace(
            batch=batch, at=lambda now: sensor.observe(now)[0], query=query, sensor=sensor
        )

    return make


def test_bytes_are_converted_to_rows_by_the_size_of_read_batches(observed):
    reader = Bytes()
    job = observed(reader)
    job.batch(0, 1000.0, entry(0, 500, 50))
    reader.newest = 500
    first = job.at(1001.0)
    assert (first.lag_rows, first.lag_counted, first.lag_unit) == (0, 0, "bytes")
    for second in range(1, 8):
        reader.newest += 100
        view = job.at(1001.0 + second)
    assert (view.lag_rows, view.lag_by_source) == (70, {"X[a]": 70})
    assert view.input_rows_per_s == pytest.approx(10.0)
    assert view.lag_s == pytest.approx(7.0)


def test_unobserved_batches_count_as_arrivals(observed):
    reader = Bytes()
    job = observed(reader)
    for second, end in enumerate((100, 500, 900), 1):
        reader.newest = end
        job.batch(2 * second, 1000.0 + second, entry(end - 100, end, 10))
        view = job.at(1001.0 + second)
    assert (view.lag_rows, view.input_rows_per_s) == (0, pytest.approx(40.0))


def test_without_a_batch_with_rows_the_backlog_is_in_bytes_only(observed):
    reader = Bytes()
    reader.newest = 100
    job = observed(reader)
    job.batch(0, 1000.0, entry(0, 0, 0))
    view = job.at(1001.0)
    assert (view.lag_rows, view.lag_counted, view.lag_unit) == (None, 100, "bytes")


def test_a_failing_reader_is_logged_once_and_its_backlog_is_absent(observed, caplog):
    reader = Bytes()
    job = observed(reader)
    job.batch(0, 1000.0, entry(0, 500, 50))
    reader.fault = OSError("no\ncredentials")
    with caplog.at_level(logging.WARNING):
        views = [job.at(1001.0 + second) for second in range(3)]
    assert [view.lag_rows for view in views] == [None] * 3
    assert views[0].input_rows_per_s == 1.0
    assert [record.getMessage() for record in caplog.records] == [
        "rheostat: the backlog of X[a] is unknown: no credentials"
    ]


@pytest.mark.parametrize("fault", [None, OSError("the connection is gone")])
def test_a_reader_is_closed_once_when_its_query_ends(observed, fault, caplog):
    reader = Bytes()
    job = observed(reader)
    job.batch(1, 100.0, entry(0, 10, 1))
    job.at(101.0)
    assert reader.closed == 0
    reader.fault = fault
    job.sensor.spark.streams.active = []
    assert job.sensor.observe(102.0) == []
    job.sensor.close()
    assert reader.closed == 1
    assert ["the connection is gone" in line for line in caplog.messages] == [True] * bool(fault)


def test_readers_are_closed_with_the_sensor(observed):
    reader = Bytes()
    job = observed(reader)
    job.batch(1, 100.0, entry(0, 10, 1))
    job.at(101.0)
    job.sensor.close()
    assert reader.closed == 1


def test_a_source_without_backlog_keeps_the_lag_of_kafka(observed, kafka):
    job = observed(ReportedBacklog())
    offsets = [{"bids": {"0": end}} for end in (0, 10, 15)]
    job.batch(1, 1000.0, kafka(*offsets), entry("opaque", "opaque", 7))
    assert job.at(1001.0).lag_rows is None  # no rate yet: extrapolation needs two batches
    offsets = [{"bids": {"0": end}} for end in (10, 20, 30)]
    job.batch(2, 1002.0, kafka(*offsets), entry("opaque", "opaque", 7))
    assert job.at(1002.0).lag_rows == 10


KINESIS_OFFSET = json.dumps(
    {
        "metadata": {"streamName": "orders", "batchId": "7"},
        "shardId-000000000000": {
            "subSequenceNumber": "-1",
            "isLast": "true",
            "iteratorPosition": "49590338271490256608559692538361571095921575989136588898",
            "iteratorType": "AFTER_SEQUENCE_NUMBER",
        },
    }
)
"""As ``KinesisV2SourceOffset`` of awslabs/spark-sql-kinesis-connector writes it."""

RECORDED: dict[str, tuple[dict[str, str], dict[str, Any], tuple[Any, ...]]] = {
    "Auto Loader": (
        {"numFilesOutstanding": "12", "numBytesOutstanding": "1200"},
        {"start": {"seqNum": 10, "sourceVersion": 1}, "end": {"seqNum": 14, "sourceVersion": 1}},
        (12 * 25.0, 12.0, "files", None),
    ),
    "Kafka-like": (
        {"avgOffsetsBehindLatest": "5.5", "maxOffsetsBehindLatest": "8"},
        {"start": {"t": {"0": 0, "1": 0}}, "end": {"t": {"0": 40, "1": 60}}},
        (11.0, 11.0, "rows", None),
    ),
    "Kinesis": (
        {"avgMsBehindLatest": "2500", "maxMsBehindLatest": "4000", "minMsBehindLatest": "0"},
        {"start": '[{"shard":"a"}]', "end": '[{"shard":"a"}]'},
        (None, None, None, 4.0),
    ),
    "numbers": (
        {},
        {
            "start": {"hub": {"0": 100, "1": 0}},
            "end": {"hub": {"0": 150, "1": 50}},
            "latest": {"hub": {"0": 170, "1": 50}},
        },
        (20.0, 20.0, "offsets", None),
    ),
    "Kinesis of awslabs": (
        {},
        {"start": KINESIS_OFFSET, "end": KINESIS_OFFSET, "latest": KINESIS_OFFSET},
        (None, None, None, None),
    ),
    "nothing": ({}, {"start": "x", "end": "y"}, (None, None, None, None)),
    "unknown numbers": (
        {"numFilesOutstanding": "NaN", "numBytesOutstanding": "-1"},
        {"start": "x", "end": "y"},
        (None, None, None, None),
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_reported_metrics_and_offsets_give_a_backlog_with_its_unit(observed, name):
    metrics, offsets, expected = RECORDED[name]
    job = observed(ReportedBacklog())
    source = entry(offsets["start"], offsets["end"], 100, metrics=metrics)
    job.batch(3, 1000.0, {**source, "latestOffset": offsets.get("latest")})
    view = job.at(1000.0)
    assert (view.lag_rows, view.lag_counted, view.lag_unit, view.lag_s) == expected


def test_the_end_of_a_limited_event_hubs_batch_is_not_a_zero_backlog(
    event,
):
    query = Query()
    sensor = sensor_of(Session(query), readers=lambda *_: ReportedBacklog())
    end = {"hub": {"0": 150, "1": 50}}
    source = {**entry({"hub": {"0": 100, "1": 0}}, end, 100), "latestOffset": str(end)}
    for part, lag in (("getOffset", None), ("latestOffset", 0)):
        query.lastProgress = event(1, 1000.0, 1.0, [source], numInputRows=100)
        query.lastProgress["durationMs"][part] = 5
        assert sensor.observe(1001.0)[0].lag_rows == lag


def test_the_reader_depends_on_the_source_description(tmp_path):
    def kind(description: str, checkpoint: str | None = f"{tmp_path}", remote: Any = None) -> str:
        return type(reader_of(description, 0, checkpoint, remote)).__name__

    assert kind("KafkaV2[Subscribe[bids]]") == "NoneType"
    assert kind("FileStreamSource[file:/in]") == "FileBacklog"
    assert kind("FileStreamSource[file:/in]", None) == "NoneType"
    assert kind("FileStreamSource[file:/in/*.json]") == "NoneType"
    assert kind("DeltaSource[file:/table]", None) == "DeltaBacklog"
    assert kind("DeltaSource[s3a://b/table]") == "NoneType"
    assert kind("KinesisV2[stream]") == "ReportedBacklog"
