# mypy: disallow-untyped-calls=False
import pytest
from tests.unit.replay.event_logs.written_log import (
    STREAMING,
    event,
    executor_added,
    written_log,
)

from rheostat.replay.event_logs.application_log import read_log


def test_a_log_yields_the_application_executors_and_queries():
    log = read_log("file", written_log(lambda t_s: 100.0, batches=5))
    assert (log.application, log.name, log.spark) == ("file", "shop", "4.0.1")
    assert [change[1:] for change in log.executors] == [("0", 1), ("1", 1)]
    assert [at_s - requested_s for requested_s, at_s in log.requests] == pytest.approx([4.0, 4.0])
    (query,) = log.queries.values()
    assert (query.name, query.starts, len(query.progress)) == ("orders", 1, 5)
    assert (log.malformed, log.failed_tasks) == (0, 0)


def test_the_tasks_of_a_batch_are_attributed_to_it():
    log = read_log("file", written_log(lambda t_s: 100.0, batches=3))
    first = log.queries["q-1"].progress[0]
    assert first.tasks is not None
    assert (first.rows, first.tasks.count, first.source_partitions) == (100, 12, 2)
    assert first.tasks.busy_s == pytest.approx(100 * 0.002)


def test_malformed_lines_are_counted_and_skipped():
    lines = list(written_log(lambda t_s: 100.0, batches=5))
    lines[5:5] = [
        '{"Event":"SparkListenerTaskEnd","Stage ID"',
        "garbage",
        event("FutureEvent", x=1),
    ]
    log = read_log("file", lines)
    assert (log.malformed, len(log.queries["q-1"].progress)) == (2, 5)


def test_a_file_of_another_format_is_abandoned_after_a_few_lines():
    def lines():
        yield from ["2026-11-27 INFO something"] * 20
        raise AssertionError("the rest is not read")

    log = read_log("file", lines())
    assert not log.is_event_log


def test_progress_events_without_other_events_are_accepted():
    events = [line for line in written_log(lambda t_s: 50.0, batches=4) if "QueryProgress" in line]
    bare = [line[line.index('"progress":') + len('"progress":') : -1] for line in events]
    log = read_log("mine", bare)
    assert len(log.queries["q-1"].progress) == 4


def test_an_offset_encoded_as_text_is_parsed_as_json():
    lines = [
        line.replace('{"orders":{', '"{\\"orders\\":{').replace(
            '}},"numInputRows"', '}}","numInputRows"'
        )
        for line in written_log(lambda t_s: 50.0, batches=2)
    ]
    assert any('"{\\"orders' in line for line in lines)
    texts = [
        line
        if "QueryProgress" not in line
        else line.replace('"0":', '\\"0\\":').replace('"1":', '\\"1\\":').replace('}},"', '}}","')
        for line in lines
    ]
    assert read_log("file", texts).queries["q-1"].progress[1].latest


def test_executors_are_added_and_removed():
    lines = [
        executor_added(10.0, "1"),
        event("SparkListenerExecutorRemoved", **{"Timestamp": 20_000, "Executor ID": "1"}),
    ]
    assert read_log("file", lines).executors == [(10.0, "1", 1), (20.0, "1", 0)]


@pytest.mark.parametrize(
    ("exception", "cause"),
    [
        ("SparkException: Job aborted\n\tat org.apache.Spark", "SparkException: Job aborted"),
        (
            "SparkException: PythonException: Traceback (most recent call last):\n"
            '  File "job.py", line 3, in write\nValueError: bad order 4711\n\n\tat org.Spark',
            "ValueError: bad order 4711",
        ),
    ],
)
def test_a_failure_is_described_by_its_cause(exception, cause):
    ended = event(f"{STREAMING}QueryTerminatedEvent", id="q-1", runId="r-1", exception=exception)
    log = read_log("file", [*written_log(lambda t_s: 100.0, batches=2), ended])
    assert log.queries["q-1"].failures == [cause]
