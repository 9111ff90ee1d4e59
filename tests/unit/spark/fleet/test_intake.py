from __future__ import annotations

import threading

import pytest

from rheostat.spark.fleet.intake import Intake, NotWritten, PushedRecord

ONE = [PushedRecord("a-1", "x")]


def test_records_are_taken_when_the_broker_has_them(producer):
    intake = Intake(producer, "push")
    intake.take(ONE)
    assert producer.topic == [("a-1", "x")]
    assert intake.meter.rows == 1
    intake.take([])


def test_a_record_that_the_broker_refuses_is_not_taken(producer):
    producer.down = True
    intake = Intake(producer, "push")
    with pytest.raises(NotWritten, match="broker down"):
        intake.take(ONE)
    assert intake.meter.rows == 0


def test_a_broker_that_does_not_answer_is_said(producer):
    producer.mute = True
    with pytest.raises(NotWritten, match="not answered within"):
        Intake(producer, "push", answer_s=0.05).take(ONE)


def test_a_queue_that_is_full_is_said(producer):
    producer.full = True
    with pytest.raises(NotWritten, match="too many records wait"):
        Intake(producer, "push").take(ONE)


def test_a_closed_intake_ends_what_it_has_begun_and_takes_nothing_more(producer):
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


def test_a_limit_paces_and_counts_as_busy(producer):
    waited: list[float] = []
    intake = Intake(producer, "push", rows_per_s=10.0, sleep=waited.append)
    intake.meter.cpu_s = lambda: 0.0
    intake.take(ONE * 5)
    assert waited == [0.5]
    assert intake.meter.busy_s() == 0.5
