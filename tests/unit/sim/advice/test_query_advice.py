# mypy: disallow-untyped-calls=False
"""Advice about a query with known capacity: a row takes 2 ms of an executor."""

import math

import pytest
from tests.unit.replay.event_logs.written_log import written_log

from rheostat.errors import BadInput
from rheostat.model import Limits, Slo
from rheostat.replay.event_logs.application_log import read_log
from rheostat.replay.event_logs.log_files import LogFiles
from rheostat.replay.event_logs.log_recording import moments
from rheostat.replay.recording import read
from rheostat.sim.advice.advise_job import Request, rows_of
from rheostat.sim.advice.query_advice import advise

DAY_S = 600.0


def day(t_s):
    """Return a rate from 100 to 1,300 rows per second; at the peak a batch lasts 5.7 s with four
    executors, and with three at least 9 s.
    """
    return 700 - 600 * math.cos(2 * math.pi * t_s / DAY_S)


def log_of(rate, batches=280, executors=6):
    return written_log(rate, batches, executors=executors, fixed_s=2.0)


@pytest.fixture(scope="module")
def advice():
    log = read_log("file", log_of(day))
    return advise({"shop/orders": moments(log, log.queries["q-1"])}, Slo(latency_s=15.0))


def test_the_smallest_fixed_size_sustains_the_peak(advice):
    assert advice.fixed_executors == 4
    assert advice.fixed is not None
    assert advice.fixed.slot_hours == pytest.approx(advice.recorded.slot_hours * 4 / 6, rel=0.01)


def test_the_default_policy_meets_the_objective_at_lower_cost_than_a_fixed_size():
    log = read_log("file", log_of(day, 560))
    advice = advise({"shop/orders": moments(log, log.queries["q-1"])}, Slo(latency_s=15.0))
    assert advice.policy.attained
    assert advice.fixed is not None
    assert advice.policy.slot_hours < advice.fixed.slot_hours


def test_the_fit_is_validated_on_held_out_batches(advice):
    assert advice.batch_error < 0.1
    assert advice.confidence.startswith("fair: only one size was recorded")


def test_a_limit_of_rows_is_part_of_the_simulated_job():
    lines = written_log(lambda t_s: 450.0, 280, row_s=0.0018, executors=1, most_rows=800)
    log = read_log("file", lines)
    limits = Limits.between(1, 4)
    advice = advise({"shop/orders": moments(log, log.queries["q-1"])}, Slo(latency_s=15.0), limits)
    assert advice.fixed_executors == 2  # without the limit one executor would suffice
    assert not advice.confidence.startswith("low")


def written(tmp_path, name, lines):
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    return LogFiles(name, (str(tmp_path / name),), 1)


@pytest.mark.parametrize(
    ("name", "lines", "reason"),
    [
        ("empty", [], "it is empty"),
        ("other", ["not a log"] * 30, "no line is an event of Spark"),
        ("short", list(written_log(day, 3)), "the recording shows"),
        ("batch", [line for line in written_log(day, 3) if "Query" not in line], "no streaming"),
        (
            "old",
            ['{"Event":"SparkListenerLogStart","Spark Version":"2.4.8"}'],
            "Spark 2.4.8 is not",
        ),
    ],
)
def test_a_log_that_cannot_be_analysed_is_a_row_with_the_reason(tmp_path, name, lines, reason):
    log = written(tmp_path, name, [line or " " for line in lines])
    if not lines:
        (tmp_path / name).write_text("")
    (row,) = rows_of(log, Request(place=str(tmp_path), slo=Slo(latency_s=10.0)))
    assert row.advice is None
    assert row.cannot is not None
    assert reason in row.cannot


def test_a_deleted_log_is_a_row_with_the_reason(tmp_path):
    log = LogFiles("app", (str(tmp_path / "app"),), 1)
    (row,) = rows_of(log, Request(place=str(tmp_path), slo=Slo(latency_s=10.0)))
    assert row.cannot is not None
    assert "\n" not in row.cannot


def test_a_recording_without_rows_is_rejected():
    log = read_log("file", log_of(day, batches=4))
    with pytest.raises(BadInput):
        advise({"q": moments(log, log.queries["q-1"])}, Slo(latency_s=10.0))


def test_without_append_times_batches_bound_the_share_of_rows_on_time(tmp_path):
    """Batches last 0.6 s and follow each other, so that a row waits for at most two of them."""
    known = list(written_log(lambda t_s: 100.0, 40))
    lines = [line.replace('"latestOffset":{', '"otherOffset":{') for line in known]
    log = written(tmp_path, "app-1", lines)
    bounds = {}
    for slo_s in (0.1, 0.8, 5.0):
        (row,) = rows_of(log, Request(place=str(tmp_path), slo=Slo(latency_s=slo_s)))
        bounds[slo_s] = row.facts["in_time_bounds"]
    assert row.advice is not None
    assert row.advice["confidence"].startswith("fair: append times are unknown")
    assert bounds == {0.1: (0.0, 0.0), 0.8: (0.0, 1.0), 5.0: (1.0, 1.0)}
    (row,) = rows_of(written(tmp_path, "app-2", known), Request(place="", slo=Slo(latency_s=5.0)))
    assert row.facts["in_time_bounds"] is None


def test_unbounded_batches_are_reported_for_kafka_only(tmp_path):
    known = list(written_log(lambda t_s: 100.0, 40))
    rates = [line.replace("KafkaV2[Subscribe[orders]]", "RateStreamV2") for line in known]
    request = Request(place="", slo=Slo(latency_s=5.0))
    (kafka,) = rows_of(written(tmp_path, "app-1", known), request)
    (rate,) = rows_of(written(tmp_path, "app-2", rates), request)
    assert (kafka.facts["reads_all"], rate.facts["reads_all"]) == (True, None)


def test_a_parquet_recording_equals_the_log(tmp_path):
    log = written(tmp_path, "app-1", written_log(lambda t_s: 100.0, 40))
    request = Request(place="", slo=Slo(latency_s=5.0), folder=str(tmp_path / "recordings"))
    list(rows_of(log, request))
    (file,) = (tmp_path / "recordings").iterdir()
    (name,) = of_log = read(tmp_path / "app-1")
    assert file.name == "app-1_orders.parquet"
    assert [moment.observation for moment in read(file)[name]] == [
        moment.observation for moment in of_log[name]
    ]
