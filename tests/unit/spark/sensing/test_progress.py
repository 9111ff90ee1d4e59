from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql.streaming import listener

from rheostat.spark.sensing.progress import batch_of

STATE = {
    "operatorName": "stateStoreSave",
    "numRowsTotal": 40,
    "numRowsUpdated": 1,
    "numRowsRemoved": 0,
    "allUpdatesTimeMs": 1,
    "allRemovalsTimeMs": 1,
    "commitTimeMs": 1,
    "memoryUsedBytes": 1000,
    "numRowsDroppedByWatermark": 0,
    "numShufflePartitions": 24,
    "numStateStoreInstances": 24,
}


def as_is(event: dict[str, Any]) -> Any:
    return event


def as_object(event: dict[str, Any]) -> Any:
    """Return ``lastProgress`` of the installed PySpark: since 4.0 a dict whose IDs are UUIDs."""
    progress = listener.StreamingQueryProgress.fromJson(json.loads(json.dumps(event)))
    return progress if isinstance(progress, dict) else event


SHAPES = pytest.mark.parametrize("shape", [as_is, as_object, json.dumps])


@SHAPES
def test_every_event_format_produces_the_same_batch(shape, event, kafka):
    source = kafka(
        {"bids": {"0": 10, "1": 20}},
        {"bids": {"0": 15, "1": 26}},
        {"bids": {"0": 18, "1": 30}},
        rate=12.5,
    )
    batch = batch_of(shape(event(4, 1000.25, 2.5, [source], stateOperators=[STATE, STATE])))
    assert (batch.query, batch.run_id, batch.batch_id) == (
        "q1",
        "11111111-2222-3333-4444-555555555555",
        4,
    )
    assert (batch.start_s, batch.duration_s, batch.commit_s) == (1000.25, 2.5, 1002.75)
    assert batch.parts_s == {"triggerExecution": 2.5, "addBatch": 1.25}
    assert batch.committed == {("bids", 0): 15, ("bids", 1): 26}
    assert batch.latest == {("bids", 0): 18, ("bids", 1): 30}
    assert (batch.rows, batch.output_rows) == (11, None)
    assert batch.inputs == {"KafkaV2[Subscribe[bids]]": 12.5}
    assert (batch.state_rows, batch.state_bytes, batch.state_partitions) == (80, 2000, 24)


@SHAPES
def test_offsets_can_be_json_text(shape, event, kafka):
    source = kafka('{"bids":{"0":10}}', '{"bids":{"0":15}}', '{"bids":{"0":18}}')
    batch = batch_of(shape(event(4, 1000, 1, [source])))
    assert (batch.rows, batch.committed, batch.latest) == (5, {("bids", 0): 15}, {("bids", 0): 18})


@SHAPES
def test_offsets_can_be_python_text(shape, event, kafka):
    """The format of PySpark 4.1."""
    source = kafka("{'bids': {'0': 10}}", "{'bids': {'0': 15}}", "{'bids': {'0': 18}}")
    batch = batch_of(shape(event(4, 1000, 1, [source])))
    assert (batch.rows, batch.committed, batch.latest) == (5, {("bids", 0): 15}, {("bids", 0): 18})


@SHAPES
@pytest.mark.parametrize("nothing", [None, "null", "None"])
def test_the_first_batch_has_no_start_offsets_and_uses_sparks_row_count(
    shape, nothing, event, kafka
):
    source = kafka(nothing, {"bids": {"0": 15}}, nothing)
    batch = batch_of(shape(event(0, 1000, 1, [source], numInputRows=15)))
    assert (batch.rows, batch.committed, batch.latest) == (15, {("bids", 0): 15}, {})


def test_rows_of_a_new_partition_count_from_its_beginning(event, kafka):
    source = kafka({"bids": {"0": 10}}, {"bids": {"0": 12, "1": 3}}, None)
    assert batch_of(event(4, 1000, 1, [source])).rows == 5


def test_two_kafka_sources_are_summed(event, kafka):
    bids = kafka({"bids": {"0": 1}}, {"bids": {"0": 3}}, {"bids": {"0": 4}}, rate=1.0)
    ask_source = kafka(
        {"asks": {"0": 5}}, {"asks": {"0": 9}}, {"asks": {"0": 9}}, rate=2.0, topic="asks"
    )
    batch = batch_of(event(4, 1000, 1, [bids, ask_source]))
    assert batch.rows == 6
    assert batch.committed == {("bids", 0): 3, ("asks", 0): 9}
    assert sum((batch.inputs or {}).values()) == 3.0


@SHAPES
def test_offsets_of_other_sources_are_not_rows(shape, event):
    rate = {
        "description": "RateStreamV2[rowsPerSecond=10]",
        "startOffset": 5,
        "endOffset": 6,
        "latestOffset": 6,
        "numInputRows": 10,
        "inputRowsPerSecond": 10.0,
        "processedRowsPerSecond": 1.0,
    }
    files = {
        **rate,
        "description": "FileStreamSource[/in]",
        "startOffset": {"logOffset": 1},
        "endOffset": {"logOffset": 2},
    }
    batch = batch_of(shape(event(4, 1000, 1, [rate, files], numInputRows=20)))
    assert (batch.rows, batch.committed, batch.latest) == (20, {}, {})
    assert (batch.state_rows, batch.state_bytes, batch.state_partitions) == (None, None, None)


def test_a_query_without_a_name_uses_its_id(event):
    assert (
        batch_of(event(4, 1000, 1, [], name=None)).query == "99999999-8888-7777-6666-555555555555"
    )


@pytest.mark.parametrize("rows", [0, 12])
def test_a_counting_sink_reports_its_output_rows(rows, event):
    assert (
        batch_of(
            event(4, 1000, 1, [], sink={"description": "Foreach", "numOutputRows": rows})
        ).output_rows
        == rows
    )


@pytest.mark.parametrize("rows", [-1, None])
def test_a_sink_that_does_not_count_has_no_output_rows(rows, event):
    """The report of PySpark 3.5 and 4 for ``foreachBatch``."""
    sink = {"description": "ForeachBatchSink", "numOutputRows": rows}
    assert batch_of(event(4, 1000, 1, [], sink=sink)).output_rows is None


@pytest.mark.parametrize("rate", [0.0, None])
def test_the_first_batch_has_rows_and_no_rate(rate, event):
    """Spark divides by the time since the previous batch, which the first one does not have."""
    source = {"description": "RateStreamV2", "numInputRows": 70, "inputRowsPerSecond": rate}
    assert batch_of(event(0, 1000, 1, [source])).inputs is None
    empty = {**source, "numInputRows": 0}
    assert batch_of(event(4, 1000, 1, [empty])).inputs == {"RateStreamV2": 0.0}


@pytest.mark.parametrize("missing", ["numRowsTotal", "memoryUsedBytes", "numShufflePartitions"])
def test_an_omitted_state_metric_is_absent(missing, event):
    state = {name: value for name, value in STATE.items() if name != missing}
    batch = batch_of(event(4, 1000, 1, [], stateOperators=[state]))
    names = {"numRowsTotal": batch.state_rows, "memoryUsedBytes": batch.state_bytes}
    assert {**names, "numShufflePartitions": batch.state_partitions}[missing] is None


def test_rocksdb_without_row_tracking_has_no_state_rows(event):
    """With ``trackTotalNumberOfRows`` off Spark sums -1 over the partitions."""
    state = {**STATE, "numRowsTotal": -24}
    assert batch_of(event(4, 1000, 1, [], stateOperators=[state])).state_rows is None


@pytest.mark.parametrize("broken", ["", "[", "{}", {"durationMs": {}}])
def test_an_invalid_event_is_rejected(broken):
    with pytest.raises((KeyError, ValueError)):
        batch_of(broken)
