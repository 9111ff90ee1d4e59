from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Producer

from rheostat.errors import BadInput
from rheostat.kafka.jars import source_jars
from rheostat.kafka.offsets import Offsets
from rheostat_lab.services import broker
from rheostat_lab.services.broker import Broker

pytestmark = pytest.mark.e2e


def rows(bootstrap: str, topic: str) -> int | None:
    offsets = Offsets({"bootstrap.servers": bootstrap}, deadline_s=30)
    try:
        latest = offsets.latest([topic])
    finally:
        offsets.close()
    return None if latest is None else sum(latest.values())


def append(bootstrap: str, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(count):
        producer.produce(topic, str(number).encode())
    assert producer.flush(30) == 0


def test_records_survive_a_killed_broker() -> None:
    with Broker() as kafka:
        kafka.create_topic("bids", 4)
        with pytest.raises(
            BadInput,
            match="'bids' with 4 partitions cannot be created: Topic 'bids' already exists",
        ):
            kafka.create_topic("bids", 4)
        append(kafka.bootstrap, "bids", 1000)
        assert rows(kafka.bootstrap, "bids") == 1000
        first = kafka.pid
        assert first is not None
        addresses = {
            connection.laddr.ip
            for connection in psutil.Process(first).net_connections()
            if connection.status == "LISTEN"
        }
        assert {address.removeprefix("::ffff:") for address in addresses} == {"127.0.0.1"}
        os.kill(first, signal.SIGKILL)
        kafka.restart()
        assert kafka.pid != first
        assert rows(kafka.bootstrap, "bids") == 1000
        last = kafka.pid
    assert last is not None
    assert not psutil.pid_exists(last)
    assert not kafka.folder.exists()


def test_a_standalone_broker_keeps_its_data_between_down_and_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    try:
        bootstrap = broker.up(folder=tmp_path / "data")
        with pytest.raises(BadInput, match=f"kafka is already running at {bootstrap}"):
            broker.up()
        broker.create_topic(bootstrap, "bids", 2)
        append(bootstrap, "bids", 10)
        assert broker.down() == bootstrap
        again = broker.up(folder=tmp_path / "data")
        assert rows(again, "bids") == 10
    finally:
        broker.down()
    assert broker.down() is None


def test_a_missing_network_at_the_first_use_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1")
    with pytest.raises(
        BadInput,
        match=(
            r"^the JARs of the Kafka source must be fetched once, but there is no network; connect"
            r" and try again$"
        ),
    ):
        source_jars("4.0.0")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
