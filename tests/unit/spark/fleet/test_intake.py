from __future__ import annotations

import threading

import pytest

from rheostat.spark.fleet.intake import Intake, NotWritten, PushedRecord

ONE = [PushedRecord("a-1", "x")]


def test_records_are_accepted_once_the_broker_has_them(producer):
    intake = Intake(producer, "push")
    intake.take(ONE)
    assert producer.topic == [("a-1", "x")]
    assert intake.meter.rows == 1
    intake.take([])


def test_a_record_that_the_broker_rejects_is_not_accepted(producer):
    producer.down = True
    intake = Intake(producer, "push")
    with pytest.raises(NotWritten, match="broker down"):
        intake.take(ONE)
    assert intake.meter.rows == 0


def test_an_unresponsive_broker_is_reported(producer):
    producer.mute = True
    with pytest.raises(NotWritten, match="not answered within"):
        Intake(producer, "push", answer_s=0.05).take(ONE)


def test_a_full_queue_is_reported(producer):
    producer.full = True
    with pytest.raises(NotWritten, match="too many records wait"):
        Intake(producer, "push").take(ONE)


def test_a_closed_intake_completes_pending_records_and_accepts_no_more(producer):
    producer.mute = True
    intake = Intake(producer, "push")
    taken = threading.Event()

    def take() -> None:
        intake.take(ONE)
        taken.set()

    thread = threading.Thread(target=take)
    thread.start()
    while not producer._queue:
        pass
    closing = threading.Thread(target=intake.close)
    closing.start()
    producer.mute = False
    closing.join(10)
    thread.join(10)
    assert taken.is_set()
    assert producer.topic == [("a-1", "x")]
    with pytest.raises(NotWritten, match="leaving"):
        intake.take(ONE)


def test_a_rate_limit_delays_and_counts_as_busy_time(producer):
    pauses: list[float] = []
    intake = Intake(producer, "push", rows_per_s=10.0, sleep=pauses.append)
    intake.meter.cpu_s = lambda: 0.0
    intake.take(ONE * 5)
    assert pauses == [0.5]
    assert intake.meter.busy_s() == 0.5
