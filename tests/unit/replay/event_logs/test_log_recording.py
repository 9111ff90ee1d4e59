# mypy: disallow-untyped-calls=False
import lzma
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.replay.event_logs.written_log import START_S, event, executor_added, written_log

from rheostat.replay.event_logs.application_log import read_log
from rheostat.replay.event_logs.log_files import find_logs, lines
from rheostat.replay.event_logs.log_recording import (
    Sizes,
    arrival_curve,
    moments,
    query_name,
    trigger_s,
)


def recording(lines):
    log = read_log("file", lines)
    (query,) = log.queries.values()
    return [moment.observation for moment in moments(log, query)]


@given(rate=st.floats(10, 800), batches=st.integers(4, 40))
def test_rate_lag_and_latency_match_the_simulated_queue(rate, batches):
    observations = recording(written_log(lambda t_s: rate, batches))
    assert len(observations) == batches
    for observation in observations[2:-1]:
        assert observation.input_rows_per_s == pytest.approx(rate, rel=0.05, abs=2)
        # Rows that arrive during a batch wait for its end; no others wait.
        assert observation.lag_rows == pytest.approx(rate * observation.batch_s, rel=0.05, abs=2)
        assert observation.latency_s is not None
        assert observation.batch_s < observation.latency_s < 2.6 * observation.batch_s


def test_an_added_executor_is_observed_at_its_registration_time():
    lines = list(written_log(lambda t_s: 100.0, batches=10))
    lines.append(executor_added(START_S + 3.05, "7"))
    observations = recording(lines)
    assert [o.executors for o in observations if o.t_s < START_S + 3] == [2] * len(
        [o for o in observations if o.t_s < START_S + 3]
    )
    assert next(o.executors for o in observations if o.t_s >= START_S + 3.05) == 3
    assert any(o.t_s == pytest.approx(START_S + 3.05) for o in observations)


def test_local_mode_counts_the_driver_as_one_executor():
    lines = [line for line in written_log(lambda t_s: 100.0, 5) if "ExecutorAdded" not in line]
    lines.append(executor_added(START_S, "driver", cores=4))
    assert {(o.executors, o.slots_per_executor) for o in recording(lines)} == {(1, 4)}


def test_a_source_without_row_offsets_is_counted_by_its_batches():
    lines = [
        line.replace('"numInputRows":', '"numInputRows":1')
        for line in written_log(lambda t: 50.0, 6)
    ]
    log = read_log("file", lines)
    curve = arrival_curve(log.queries["q-1"].progress)
    assert not curve.measured
    assert list(curve.rows) == list(curve.committed)
    assert all(o.latency_s is None for o in recording(lines))


def test_the_trigger_interval_is_derived_from_batch_starts():
    back_to_back = read_log("file", written_log(lambda t_s: 100.0, 12)).queries["q-1"].progress
    assert trigger_s(back_to_back) == 0.0
    every_2_s = [
        type(one)(**{**{n: getattr(one, n) for n in one.__slots__}, "begin_s": 2.0 * number})
        for number, one in enumerate(back_to_back)
    ]
    assert trigger_s(every_2_s) == 2.0


def test_a_few_short_batches_reveal_the_trigger_interval():
    batches = read_log("file", written_log(lambda t_s: 100.0, 40)).queries["q-1"].progress
    begin_s, busy = 1000.0, []
    for number, one in enumerate(batches):
        took_s = 0.2 if number % 4 == 0 else 1.37
        busy.append(replace(one, begin_s=begin_s, batch_s=took_s))
        # As in ProcessingTimeExecutor: at once after a long batch, else at the next multiple.
        next_s = (begin_s // 1.0 + 1) * 1.0
        begin_s = max(next_s, begin_s + took_s)
    assert trigger_s(busy) == 1.0


def test_a_requested_executor_counts_toward_the_target_until_it_registers():
    lines = list(written_log(lambda t_s: 100.0, batches=20))
    lines.append(executor_added(START_S + 8.0, "7"))
    targets = [(o.t_s - START_S, o.executors, o.target) for o in recording(lines)]
    assert {(size, target) for t_s, size, target in targets if t_s < 3.9} == {(2, 2)}
    assert {(size, target) for t_s, size, target in targets if 4.0 <= t_s < 7.9} == {(2, 3)}
    assert {(size, target) for t_s, size, target in targets if t_s >= 8.0} == {(3, 3)}


def test_two_queries_with_the_same_name_are_two_recordings():
    lines = list(written_log(lambda t_s: 100.0, batches=4))
    lines += [line.replace("q-1", "q-2") for line in lines]
    log = read_log("file", lines)
    names = {moments(log, query)[0].observation.application for query in log.queries.values()}
    assert names == {"file/orders-q-1", "file/orders-q-2"}


def test_a_query_without_a_batch_has_no_moments():
    lines = [line for line in written_log(lambda t_s: 1.0, 2) if "QueryProgress" not in line]
    lines.append(event("SparkListenerApplicationEnd", Timestamp=1))
    assert recording(lines) == []


FOLDER = Path(__file__).parent / "samples"
SAMPLES = sorted(FOLDER.glob("spark-*.jsonl.xz"))
"""Logs of local sessions with a stateful query on 200 rows a batch, reduced to the events and
fields that are read (``scripts/event_log_sample.py``)."""


def sample_lines(path):
    return lzma.decompress(path.read_bytes()).decode().splitlines()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_logs_of_every_spark_version_yield_their_batches(sample):
    log = read_log("file", sample_lines(sample))
    (query,) = log.queries.values()
    assert (log.spark, log.malformed) == (sample.name.partition("-")[2].partition(".jsonl")[0], 0)
    assert {event.rows for event in query.progress} == {200}
    assert {event.tasks and event.tasks.count for event in query.progress} == {3}
    observations = [moment.observation for moment in moments(log, query)]
    assert {(o.executors, o.slots_per_executor, o.state_partitions) for o in observations} == {
        (1, 1, 2)
    }
    assert len(observations) == len(query.progress) >= 3


def test_a_compacted_log_starts_with_the_batches_of_its_newest_file(tmp_path):
    """Spark's compaction drops progress events; it keeps the query and the present executors."""
    with tarfile.open(FOLDER / "rolled-4.3.0.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    (rolled,) = find_logs(str(tmp_path))
    log = read_log(rolled.application, lines(rolled, str(tmp_path)))
    (query,) = log.queries.values()
    assert [name.rpartition(".")[2] == "compact" for name in rolled.files] == [True, False]
    assert (log.malformed, query.starts, Sizes.of(log).counts) == (0, 1, (1,))
    assert len(moments(log, query)) == len(query.progress) >= 3
    assert query.progress[0].batch_id > 20
    assert {event.tasks and event.tasks.count for event in query.progress} == {200}


def test_a_mixed_log_separates_its_queries_and_excludes_other_jobs():
    """Two queries at the same time, one a join of two streams, with Spark SQL in between."""
    log = read_log("file", sample_lines(FOLDER / "mixed-4.3.0.jsonl.xz"))
    assert log.malformed == 0
    assert log.conf["spark.dynamicAllocation.enabled"] == "true"
    queries = {query_name(log, query): query for query in log.queries.values()}
    assert set(queries) == {"join", "count"}
    sources = {"join": 2, "count": 1}
    for name, query in queries.items():
        batches = [event for event in query.progress if event.rows]
        assert {event.rows for event in batches} == {200 * sources[name]}
        assert {len(event.source_rows) for event in batches} == {sources[name]}
        assert all(event.tasks for event in batches)
    busy_s = sum(e.tasks.busy_s for q in queries.values() for e in q.progress if e.tasks)
    assert 0 < busy_s < log.run_s
    assert {size for size in Sizes.of(log).counts if size} <= {1, 2}
