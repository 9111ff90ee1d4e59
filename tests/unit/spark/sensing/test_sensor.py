from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.model import InFlight, Observation
from rheostat.spark.sensing.progress import batch_of, reported_trigger_s
from rheostat.spark.sensing.rest import Executor
from rheostat.spark.sensing.sensor import SparkSensor

WAITING = {"message": "Waiting for next trigger", "isTriggerActive": False, "isDataAvailable": True}
RUNNING = {"message": "Processing new data", "isTriggerActive": True, "isDataAvailable": True}
NO_DATA = {
    "message": "Waiting for next trigger",
    "isTriggerActive": False,
    "isDataAvailable": False,
}


class Query:
    def __init__(self, run: str = "r1", name: str | None = "q1", **progress: Any) -> None:
        self.id, self.runId, self.name = "id1", run, name
        self.lastProgress: dict[str, Any] | None = None
        self.status = WAITING


class Session:
    """A session with queries and a status tracker that knows one stage: 3 of 8 tasks are done."""

    def __init__(self, *queries: Query) -> None:
        self.streams = SimpleNamespace(active=list(queries))
        stage = SimpleNamespace(numTasks=8, numCompletedTasks=3)
        tracker = SimpleNamespace(getActiveStageIds=lambda: [1], getStageInfo=lambda _: stage)
        self.sparkContext = SimpleNamespace(applicationId="app-1", statusTracker=lambda: tracker)


class Endpoint:
    """Answers with the executors of a script, each as (id, task seconds); None is no answer."""

    def __init__(self, *answers: list[tuple[str, float]] | None) -> None:
        self.answers = list(answers)
        self.first_starts_s: list[float | None] = [None]

    def first_start_s(self) -> float | None:
        return self.first_starts_s.pop(0) if self.first_starts_s else None

    def registered(self) -> list[Executor] | None:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            return None
        return [
            Executor(
                id=name,
                slots=2,
                active=True,
                task_s=task_s,
                peak_memory_bytes=100,
                registered_s="",
                removed_s=None,
            )
            for name, task_s in answer
        ]


class Broker:
    """A broker with one partition per topic; with ``rows`` None it does not answer."""

    def __init__(self, rows: int | None) -> None:
        self.rows = rows
        self.requests: list[list[str]] = []
        self.up: bool | None = None

    def close(self) -> None:
        self.up = None

    def latest(self, topics):
        self.requests.append(list(topics))
        self.up = self.rows is not None
        return None if self.rows is None else {(topic, 0): self.rows for topic in topics}


def sensor_of(
    session: Any,
    endpoint: Any = None,
    offsets: Any = None,
    trigger_s: float | None = 1.0,
    **rest: Any,
) -> SparkSensor:
    return SparkSensor(
        session,
        endpoint,
        offsets,
        trigger_s=lambda _: trigger_s,
        **rest,
    )


@pytest.fixture
def batch(event, kafka):
    """Return a function that makes the event of a batch of one partition: number, start, duration,
    first and last row, rows at the broker when it was planned."""

    def make(
        number: int,
        start_s: float,
        duration_s: float,
        start: int,
        end: int,
        latest: int,
        **changes: Any,
    ) -> dict[str, Any]:
        source = kafka({"bids": {"0": start}}, {"bids": {"0": end}}, {"bids": {"0": latest}})
        progress_event: dict[str, Any] = event(number, start_s, duration_s, [source], **changes)
        return progress_event

    return make


def test_before_the_first_batch_signals_come_from_checkpoint_and_broker():
    broker, query = Broker(100), Query()
    known = [None, {("bids", 0): 40}]
    sensor = sensor_of(Session(query), offsets=broker, committed=lambda _: known.pop(0))
    (nothing,) = sensor.observe(1000.0)
    assert (nothing.lag_rows, nothing.input_rows_per_s) == (None, None)
    (first,) = sensor.observe(1001.0)
    assert (first.lag_rows, first.input_rows_per_s, first.batch_s) == (60, None, None)
    broker.rows = 130
    (second,) = sensor.observe(1003.0)
    assert (second.lag_rows, second.input_rows_per_s, second.trigger_s) == (90, 15.0, 1.0)
    broker.rows = None
    (silent,) = sensor.observe(1004.0)
    assert (silent.lag_rows, silent.query) == (None, "q1")


def test_no_query_gives_no_observation():
    assert sensor_of(Session()).observe(1000.0) == []


def test_before_its_first_batch_a_query_has_a_name_and_executors():
    (view,) = sensor_of(Session(Query()), Endpoint([("0", 0.0), ("1", 0.0)])).observe(1000.0)
    shown = (view.query, view.application, view.executors, view.slots_per_executor, view.target)
    assert shown == ("q1", "app-1", 2, 2, None)
    assert (view.input_rows_per_s, view.lag_rows, view.batch_s, view.in_flight) == (
        None,
        None,
        None,
        None,
    )


def test_rates_come_from_the_last_batch_and_lag_from_the_broker(batch):
    query, broker = Query(), Broker(150)
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    sensor = sensor_of(Session(query), offsets=broker)
    (first,) = sensor.observe(1001.0)
    # The oldest waiting row arrived after the planning of the batch, a second ago.
    assert (first.lag_rows, first.input_rows_per_s, first.lag_s) == (50, None, 1.0)
    broker.rows = 250
    (view,) = sensor.observe(1002.0)
    assert broker.requests == [["bids"], ["bids"]]
    assert (view.input_rows_per_s, view.lag_rows, view.lag_s) == (100.0, 150, 2.0)
    assert view.lag_by_source == {"bids/0": 150}
    assert view.lag_mean_s == pytest.approx((50 * 1.5 + 100 * 0.5) / 150)
    assert (view.batch_s, view.batch_rows, view.processed_rows_per_s, view.trigger_s) == (
        0.5,
        50,
        100.0,
        1.0,
    )
    assert view.output_rows_per_s is None


def test_the_lag_grows_during_a_batch_and_the_batch_has_an_age(batch):
    query, broker = Query(), Broker(100)
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    query.status = RUNNING
    sensor = sensor_of(Session(query), Endpoint([("0", 0.0)]), offsets=broker)
    lags, ages = [], []
    for second in range(1, 4):
        broker.rows = 100 + 1000 * second
        (view,) = sensor.observe(1001.0 + second)
        lags.append(view.lag_rows)
        ages.append(view.in_flight)
    assert lags == [1000, 2000, 3000]
    assert ages == [
        InFlight(elapsed_s=float(second), tasks_done=3, tasks_left=5) for second in range(1, 4)
    ]


def test_latency_is_commit_time_minus_arrival(batch):
    query, broker = Query(), Broker(0)
    query.lastProgress = batch(1, 999.0, 0.1, 0, 0, 0)
    sensor = sensor_of(Session(query), offsets=broker)
    sensor.observe(1000.0)
    broker.rows = 100
    sensor.observe(1001.0)
    query.lastProgress = batch(2, 1001.0, 1.5, 0, 100, 100)
    (view,) = sensor.observe(1003.0)
    assert view.latency_s == pytest.approx(
        2.0
    )  # the rows arrived evenly over 1000..1001 and were committed at 1002.5


def test_an_unreachable_broker_leaves_the_lag_absent(batch):
    query = Query()
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 120)
    (view,) = sensor_of(Session(query), offsets=Broker(None)).observe(1001.0)
    assert (view.lag_rows, view.lag_s, view.input_rows_per_s) == (None, None, None)
    assert view.broker_up is False


def test_after_a_peak_the_lag_is_the_wait_of_the_oldest_row(batch):
    query, broker = Query(), Broker(0)
    query.lastProgress = batch(1, 999.0, 0.1, 0, 0, 0)
    sensor = sensor_of(Session(query), offsets=broker)
    # 1,000 rows/s for 30 s, then one row in ten seconds; the batch after the peak is still running.
    query.status = RUNNING
    for second in range(1000, 1061, 5):
        broker.rows = 1000 * min(second - 1000, 30) + max(0, second - 1030) // 10
        (view,) = sensor.observe(float(second))
    assert (view.lag_rows, view.lag_s, view.lag_littles_law_s) == (30_003, 60.0, None)
    # The newest rows are 0 to 30 s old, the others 30 to 60: the mean age of the peak's is 45 s.
    assert view.lag_mean_s == pytest.approx(45.0, rel=0.01)


def test_rows_older_than_the_arrival_curve_wait_by_littles_law(batch):
    query, broker = Query(), Broker(5000)
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 4000)
    sensor = sensor_of(Session(query), offsets=broker)
    (first,) = sensor.observe(1001.0)
    assert (first.lag_s, first.lag_littles_law_s, first.wait_s) == (None, None, None)
    broker.rows = 5100
    (view,) = sensor.observe(1002.0)
    assert (view.lag_s, view.lag_mean_s, view.lag_littles_law_s) == (None, None, 50.0)
    assert view.wait_s == 50.0


def test_rates_not_measured_since_the_last_tick_are_absent(batch):
    query, broker = Query(), Broker(100)
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    sensor = sensor_of(Session(query), offsets=broker)
    views = []
    for second, rows in enumerate([100, 200, None, None, 900, 1000]):
        broker.rows = rows
        (view,) = sensor.observe(1001.0 + second)
        inputs = view.inputs and sum(view.inputs.values())
        views.append((view.broker_up, view.input_rows_per_s, inputs, view.processed_rows_per_s))
    assert views == [
        (True, None, None, 100.0),
        (True, 100.0, 100.0, 100.0),
        (False, None, None, None),
        (False, None, None, None),
        # The arrival time of the rows since before the outage is unknown.
        (True, None, None, 100.0),
        (True, 100.0, 100.0, 100.0),
    ]


def test_a_query_is_not_idle_while_its_broker_is_unreachable(batch):
    query, broker = Query(), Broker(100)
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    query.status = NO_DATA
    sensor = sensor_of(Session(query), offsets=broker)
    (idle,) = sensor.observe(1600.0)
    assert (idle.batch_s, idle.batch_rows) == (0.0, 0)
    broker.rows = None
    (cut_off,) = sensor.observe(1605.0)
    assert (cut_off.batch_s, cut_off.batch_rows, cut_off.lag_rows) == (None, None, None)


def test_every_broker_change_is_reported_once_even_without_a_query():
    broker, reported = Broker(None), []
    sensor = sensor_of(
        Session(), offsets=broker, broker_changed=lambda up, now: reported.append((up, now))
    )
    for second, rows in enumerate([None, None, 5, 5, None, 5]):
        broker.rows = rows
        sensor.observe(1000.0 + second)
    assert reported == [(False, 1000.0), (True, 1002.0), (False, 1004.0), (True, 1005.0)]
    assert broker.requests == [[]] * 6


def test_the_broker_state_is_absent_without_a_broker(batch):
    query = Query()
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    (view,) = sensor_of(Session(query)).observe(1001.0)
    assert view.broker_up is None


def test_rates_by_source_are_absent_if_their_shares_are_unknown(batch):
    query, broker = Query(), Broker(0)
    query.lastProgress = batch(0, 1000.0, 0.5, 0, 0, 0)
    kafka = {**query.lastProgress["sources"][0], "inputRowsPerSecond": 0.0, "numInputRows": 0}
    query.lastProgress["sources"] = [kafka, {"description": "files", "numInputRows": 0}]
    sensor = sensor_of(Session(query), offsets=broker)
    sensor.observe(1001.0)
    broker.rows = 100
    (view,) = sensor.observe(1002.0)
    assert (view.input_rows_per_s, view.inputs) == (100.0, None)


def test_without_a_broker_the_lag_is_extrapolated_from_the_batches(batch):
    query = Query()
    sensor = sensor_of(Session(query))
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    (first,) = sensor.observe(1000.6)
    assert (first.lag_rows, first.input_rows_per_s) == (None, None)
    query.lastProgress = batch(4, 1001.0, 0.5, 100, 150, 200)
    (view,) = sensor.observe(1003.0)
    assert (view.input_rows_per_s, view.lag_rows, view.lag_s) == (100.0, 250.0, 2.5)


def test_without_a_broker_an_idle_querys_lag_does_not_grow(batch):
    query = Query()
    sensor = sensor_of(Session(query))
    for number in (3, 4):
        query.lastProgress = batch(
            number, 997.0 + number, 0.5, number * 50, number * 50 + 50, number * 50 + 50
        )
        sensor.observe(997.6 + number)
    query.status = NO_DATA
    (view,) = sensor.observe(1600.0)
    assert (view.lag_rows, view.lag_s, view.input_rows_per_s) == (0.0, 0.0, 0.0)
    assert (view.batch_s, view.batch_rows, view.processed_rows_per_s) == (0.0, 0, None)


def test_a_long_interval_between_two_batches_is_not_idleness(batch):
    query = Query()
    query.lastProgress = batch(3, 1000.0, 5.0, 50, 100, 100)
    (view,) = sensor_of(Session(query), trigger_s=None).observe(1050.0)
    assert (view.batch_s, view.batch_rows) == (5.0, 50)


def test_the_age_of_a_running_batch_excludes_a_pause_before_it(batch):
    query = Query()
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    query.status = NO_DATA
    sensor = sensor_of(Session(query), offsets=Broker(100))
    sensor.observe(1600.2)
    query.status = RUNNING
    assert [sensor.observe(now)[0].in_flight for now in (1603.0, 1605.0)] == [
        InFlight(elapsed_s=2.0),
        InFlight(elapsed_s=4.0),
    ]


def test_without_kafka_the_rate_is_sparks_and_the_lag_is_absent(event):
    query = Query()
    rate = {
        "description": "RateStreamV2",
        "startOffset": 5,
        "endOffset": 6,
        "latestOffset": 6,
        "inputRowsPerSecond": 10.0,
    }
    query.lastProgress = event(3, 1000.0, 0.5, [rate], numInputRows=10)
    broker = Broker(5)
    (view,) = sensor_of(Session(query), offsets=broker).observe(1001.0)
    assert (view.input_rows_per_s, view.inputs, view.batch_rows) == (
        10.0,
        {"RateStreamV2": 10.0},
        10,
    )
    assert (view.lag_rows, view.lag_s, view.latency_s) == (None, None, None)
    assert broker.requests == [[]]  # only to check that it answers
    query.status = NO_DATA
    (later,) = sensor_of(Session(query)).observe(1600.0)
    assert (later.input_rows_per_s, later.inputs) == (0.0, {"RateStreamV2": 0.0})


def test_two_queries_give_two_observations_with_shared_executors(batch):
    one, two = Query("r1", "one"), Query("r2", None)
    one.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100, name="one")
    one.status = RUNNING
    views = sensor_of(Session(one, two), Endpoint([("0", 0.0)])).observe(1003.0)
    assert [(view.query, view.executors) for view in views] == [("one", 1), ("id1", 1)]
    assert views[0].in_flight == InFlight(elapsed_s=2.0)  # the query of the tasks is unknown


def test_a_stopped_query_is_removed_and_a_restarted_one_starts_fresh(batch):
    session, broker = Session(Query("r1")), Broker(100)
    session.streams.active[0].lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    sensor = sensor_of(session, offsets=broker)
    sensor.observe(1001.0)
    restarted = Query("r2")
    session.streams.active = []
    assert sensor.observe(1002.0) == []
    session.streams.active = [restarted]
    assert sensor.observe(1003.0)[0].input_rows_per_s is None
    restarted.lastProgress = batch(4, 1003.0, 0.5, 100, 150, 150)
    broker.rows = 150
    assert (
        sensor.observe(1004.0)[0].input_rows_per_s is None
    )  # its own arrival curve has only one point
    broker.rows = 160
    assert sensor.observe(1005.0)[0].input_rows_per_s == 10.0


def test_without_a_response_of_the_ui_executors_are_absent(batch):
    query = Query()
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    (view,) = sensor_of(Session(query), Endpoint(None)).observe(1001.0)
    assert (view.executors, view.slots_per_executor, view.busy, view.memory_bytes) == (
        None,
        None,
        None,
        None,
    )
    assert view.batch_rows == 50


def test_the_first_start_time_is_requested_until_it_is_known():
    endpoint = Endpoint([("0", 0.0)])
    endpoint.first_starts_s = [None, 5.25]
    sensor = sensor_of(Session(Query()), endpoint)
    first_starts_s = [sensor.observe(1000.0 + second)[0].first_start_s for second in (0, 20, 40)]
    assert first_starts_s == [None, 5.25, 5.25]


def test_busy_is_task_time_divided_by_slot_time():
    sensor = sensor_of(
        Session(Query()),
        Endpoint([("0", 0.0)], [("0", 16.0), ("1", 99.0)], [("0", 999.0), ("1", 99.0)]),
    )
    views = [sensor.observe(now)[0] for now in (1000.0, 1020.0, 1040.0)]
    assert [view.busy for view in views] == [
        None,
        0.4,
        1.0,
    ]  # of 2 slots x 20 s; a newly registered executor does not count
    assert views[-1].memory_bytes == 100


def test_the_interval_is_the_distance_of_batches_that_end_early(batch):
    one, two = batch_of(batch(3, 1000.0, 0.5, 0, 1, 1)), batch_of(batch(5, 1002.0, 0.5, 1, 2, 2))
    assert reported_trigger_s(one, two) == 1.0
    assert reported_trigger_s(None, two) is None
    assert reported_trigger_s(two, two) is None
    assert reported_trigger_s(one, batch_of(batch(4, 1001.0, 0.9, 1, 2, 2))) is None


def test_an_interval_derived_across_a_pause_is_corrected(batch):
    query, intervals = Query(), []
    sensor = sensor_of(Session(query), trigger_s=None)
    for number, start_s in enumerate([1000.0, 1030.0, 1031.0, 1032.1, 1040.0]):
        query.lastProgress = batch(number, start_s, 0.1, number, number + 1, number + 1)
        intervals.append(sensor.observe(start_s + 0.5)[0].trigger_s)
    assert intervals == [None, 30.0, 1.0, 1.0, 1.0]


def test_a_configured_interval_is_kept(batch):
    query, intervals = Query(), []
    sensor = sensor_of(Session(query), trigger_s=0.0)
    for number, start_s in enumerate([1000.0, 1030.0]):
        query.lastProgress = batch(number, start_s, 0.1, number, number + 1, number + 1)
        intervals.append(sensor.observe(start_s + 0.5)[0].trigger_s)
    assert intervals == [0.0, 0.0]


class LocalUsage:
    """The resource use of local executors, the same at every read."""

    def observe(self, now, executors):
        return Observation(t_s=now, cpu=0.25, cpu_python=0.5, load_per_core=0.75)


class Stages:
    """Fills in a CPU share of 0.2 for every query."""

    def fill(self, view, batch, last, idle):
        return replace(view, cpu=0.0 if idle else 0.2, stages=())


def test_operating_system_usage_is_in_every_observation(batch):
    query = Query()
    query.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    (view,) = sensor_of(Session(query), Endpoint([("0", 0.0)]), local=LocalUsage()).observe(1001.0)
    assert (view.cpu, view.cpu_python, view.load_per_core, view.application) == (
        0.25,
        0.5,
        0.75,
        "app-1",
    )


def test_the_stage_cpu_of_several_queries_is_summed(batch):
    one, two = Query("r1", "one"), Query("r2", "two")
    one.lastProgress = two.lastProgress = batch(3, 1000.0, 0.5, 50, 100, 100)
    views = sensor_of(Session(one, two), Endpoint([("0", 0.0)]), stages=Stages()).observe(1001.0)
    assert [view.cpu for view in views] == [0.4, 0.4]


def test_an_idle_query_uses_no_cpu(batch):
    query = Query()
    query.lastProgress, query.status = batch(3, 1000.0, 0.5, 50, 100, 100), NO_DATA
    (view,) = sensor_of(Session(query), Endpoint([("0", 0.0)]), stages=Stages()).observe(1100.0)
    assert (view.batch_rows, view.cpu) == (0, 0.0)


def test_the_arrival_rate_is_divided_by_the_shares_of_the_sources(event, kafka):
    def source(topic: str, rate: float) -> dict[str, Any]:
        return dict(
            kafka({topic: {"0": 0}}, {topic: {"0": 50}}, {topic: {"0": 50}}, rate=rate, topic=topic)
        )

    query, broker = Query(), Broker(50)
    query.lastProgress = event(3, 1000.0, 0.5, [source("bids", 30.0), source("persons", 10.0)])
    sensor = sensor_of(Session(query), offsets=broker)
    sensor.observe(1001.0)
    broker.rows = 150
    (view,) = sensor.observe(1002.0)
    assert view.input_rows_per_s == 200.0
    assert view.inputs == {"KafkaV2[Subscribe[bids]]": 150.0, "KafkaV2[Subscribe[persons]]": 50.0}


def test_executors_are_read_again_early_and_then_every_15_seconds():
    sensor = sensor_of(Session(Query()), Endpoint([("0", 0.0)], [("0", 4.0)], [("0", 90.0)]))
    assert [sensor.observe(1000.0 + second)[0].busy for second in (0, 3, 4, 10, 18, 19)] == [
        None,
        None,
        0.5,
        0.5,
        0.5,
        1.0,
    ]


def test_a_real_time_batch_is_not_late_and_reports_its_slots(batch, caplog):
    query, broker = Query(), Broker(100)
    query.lastProgress = batch(3, 1000.0, 300.0, 50, 100, 100)
    query.status = RUNNING
    sensor = sensor_of(
        Session(query), Endpoint([("0", 0.0)]), offsets=broker, real_time_s=lambda _: 300.0
    )
    for now in (1500.0, 1550.0):
        (view,) = sensor.observe(now)
    assert (view.real_time_s, view.real_time_slots) == (300.0, 8)
    assert (view.in_flight, view.batch_s, view.batch_rows) == (None, None, None)
    assert [record.getMessage() for record in caplog.records] == [
        "rheostat: query q1 runs in real-time mode, in batches of 300 s: its executors are not"
        " reduced while it runs"
    ]
