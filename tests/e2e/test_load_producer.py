from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from rheostat.sim.workload import Constant
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.due_rows import rows_until
from rheostat_lab.nexmark.curve import Point, read_curve
from rheostat_lab.nexmark.encoding import encode
from rheostat_lab.nexmark.events import events
from rheostat_lab.services.broker import Broker

pytestmark = pytest.mark.e2e

PARTITIONS = 4


def _start(broker: Broker, topic: str, *options: str) -> subprocess.Popen[str]:
    broker.create_topic(topic, PARTITIONS)
    command = [
        sys.executable,
        "-m",
        "rheostat_lab.nexmark.load",
        "--bootstrap",
        broker.bootstrap,
        "--topic",
        topic,
        *options,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _end(load: subprocess.Popen[str]) -> dict[str, Any]:
    output, errors = load.communicate(timeout=600)
    assert (load.returncode, errors) == (0, "")
    summary: dict[str, Any] = json.loads(output.splitlines()[-1])
    return summary


def _points(curve: Path) -> tuple[Point, ...]:
    """Return the points so far; the file may exist before its first line."""
    return read_curve(curve).points if curve.exists() and curve.stat().st_size else ()


def _await(load: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    while not reached():
        assert load.poll() is None, "the load ended too early"
        time.sleep(0.05)


def _records(broker: Broker, topic: str) -> list[tuple[int, bytes]]:
    """Return (partition, value) of all records of a topic."""
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "test", "enable.auto.commit": False}
    )
    places = [TopicPartition(topic, p, 0) for p in range(PARTITIONS)]
    wanted = sum(consumer.get_watermark_offsets(place, timeout=20)[1] for place in places)
    consumer.assign(places)
    records: list[tuple[int, bytes]] = []
    while len(records) < wanted:
        messages = consumer.consume(min(10_000, wanted - len(records)), timeout=20)
        assert messages, f"{len(records)} of {wanted} records after 20 s"
        records += [(message.partition(), message.value()) for message in messages]
    consumer.close()
    return records


def _numbers(records: list[tuple[int, bytes]]) -> list[int]:
    return [json.loads(value)["id"] for _, value in records]


def test_a_killed_broker_loses_and_duplicates_no_bid(broker: Broker, tmp_path: Path) -> None:
    curve = tmp_path / "curve.jsonl"
    load = _start(
        broker,
        "killed",
        "--workload",
        "constant",
        "--set",
        "rate=8000",
        "--seconds",
        "5",
        "--curve",
        str(curve),
    )
    _await(load, lambda: len(_points(curve)) > 3)
    assert broker.pid
    os.kill(broker.pid, signal.SIGKILL)
    time.sleep(1)
    broker.restart()
    summary = _end(load)
    records = _records(broker, "killed")
    assert summary["rows"] == rows_until(Constant(8000), 5)
    assert sorted(_numbers(records)) == list(range(summary["rows"]))
    assert all(json.loads(value)["id"] % PARTITIONS == partition for partition, value in records)
    for wanted in range(PARTITIONS):
        assert _numbers([r for r in records if r[0] == wanted]) == list(
            range(wanted, summary["rows"], PARTITIONS)
        )
    assert read_curve(curve).points[-1].acked == summary["rows"]


def test_the_topic_contains_the_bids_of_the_seed(broker: Broker) -> None:
    options = (
        "--workload",
        "day",
        "--set",
        "low=500",
        "--set",
        "peak=900",
        "--set",
        "day_s=2",
        "--seed",
        "11",
    )
    summary = _end(_start(broker, "seeded", *options))
    assert summary["rows"] == rows_until(Day(low=500, peak=900, day_s=2, seed=11), 2)
    for _, value in _records(broker, "seeded")[:200]:
        bid = json.loads(value)
        assert [*encode(events("bids", 11, bid["id"], 1), bid["date_time"])] == [value]
        assert 0 <= time.time() * 1000 - bid["date_time"] < 600_000


def test_sigterm_ends_the_load_with_its_summary_and_all_bids_sent(
    broker: Broker, tmp_path: Path
) -> None:
    curve = tmp_path / "curve.jsonl"
    load = _start(
        broker, "stopped", "--workload", "constant", "--set", "rate=1000", "--curve", str(curve)
    )
    _await(load, lambda: any(point.rows for point in _points(curve)))
    load.send_signal(signal.SIGTERM)
    summary = _end(load)
    assert len(_records(broker, "stopped")) == summary["rows"] > 0


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ((), "there is no topic 'any' at 127.0.0.1:"),
        (("--workload", "noon"), "unknown workload 'noon'; there are bursts, constant"),
        (("--start-at", "10"), "--start-at is a Unix time within a day of now"),
    ],
)
def test_invalid_options_are_one_line_and_exit_code_2(
    broker: Broker, options: tuple[str, ...], error: str
) -> None:
    command = [
        sys.executable,
        "-m",
        "rheostat_lab.nexmark.load",
        "--bootstrap",
        broker.bootstrap,
        "--topic",
        "any",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert error in done.stderr
