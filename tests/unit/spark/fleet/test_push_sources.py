"""Real senders, real sockets and the receivers' own code, without Spark and a broker."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from rheostat.spark.fleet.directory import Directory
from rheostat.spark.fleet.intake import Intake
from rheostat.spark.fleet.receiving import MOST_BYTES, SOURCES, ReceiverTask, executor_id, serve
from rheostat_lab.push.push_verdict import judge
from rheostat_lab.push.sender import Senders

HERE = "127.0.0.1"


@pytest.fixture
def directory() -> Iterator[Directory]:
    directory = Directory(HERE, time.time)
    directory.start()
    yield directory
    directory.stop()


class Receivers:
    """Receivers as threads of this process."""

    def __init__(self, directory: Directory, protocol: str, producer: Any) -> None:
        self._directory, self._protocol, self._producer = directory, protocol, producer
        self._threads: dict[int, threading.Thread] = {}

    def start(self, number: int) -> None:
        task = ReceiverTask(
            number=number,
            directory=(HERE, self._directory.port),
            protocol=self._protocol,
            bind=HERE,
            host=HERE,
            topic="push",
            kafka={},
        )
        self._directory.expect(number)
        self._threads[number] = threading.Thread(target=serve, args=(task, self._producer))
        self._threads[number].start()
        while number not in self._directory.beats():
            time.sleep(0.01)

    def stop(self, number: int) -> None:
        self._directory.dismiss(number)
        self._threads.pop(number).join(20)


@pytest.mark.parametrize("protocol", list(SOURCES))
def test_no_record_is_lost_while_receivers_change_and_the_broker_fails(
    protocol, directory, producer
):
    receivers = Receivers(directory, protocol, producer)
    receivers.start(0)
    address = f"{HERE}:{directory.port}"
    with Senders(address, protocol, 3, lambda _: 300.0) as senders:
        time.sleep(0.5)
        receivers.start(1)
        receivers.stop(0)
        producer.down = True
        time.sleep(0.3)
        producer.down = False
        receivers.start(2)
        receivers.stop(1)
        time.sleep(0.3)
        assert senders.finish(30)
    receivers.stop(2)
    once = dict(producer.topic)
    verdict = judge(senders.ids, senders.tried, once.items())
    assert verdict.exact
    assert len(senders.ids) == sum(senders.due) > 100
    assert senders.retries > 0
    assert directory.addresses() == []


@pytest.fixture
def http_receiver(producer: Any) -> Iterator[str]:
    server = SOURCES["http"](Intake(producer, "push"), HERE)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"{HERE}:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "message"),
    [
        ("/records", b'{"id": "a", "value": "x"}', {}, 200, "acknowledged"),
        ("/records", b"nonsense", {}, 400, "line 1 is not JSON"),
        ("/elsewhere", b"", {}, 404, "POST /records"),
        ("/records", None, {"Content-Length": str(MOST_BYTES + 1)}, 413, "at most"),
        ("/records", None, {"Content-Length": "many"}, 411, "Content-Length"),
    ],
)
def test_every_request_receives_the_expected_response(
    http_receiver, path, body, headers, status, message
):
    connection = http.client.HTTPConnection(http_receiver, timeout=120)
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    assert (answer.status, message in json.dumps(json.load(answer))) == (status, True)
    connection.close()


def test_a_broker_failure_is_reported_to_the_sender(http_receiver, producer):
    producer.down = True
    connection = http.client.HTTPConnection(http_receiver, timeout=120)
    connection.request("POST", "/records", b'{"id": "a", "value": "x"}')
    answer = connection.getresponse()
    assert answer.status == 503
    assert "broker down" in json.load(answer)["error"]
    connection.close()


def test_an_invalid_line_is_answered_and_closes_the_connection(producer):
    server = SOURCES["socket"](Intake(producer, "push"), HERE)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    with socket.create_connection(server.server_address, timeout=10) as line:
        line.sendall(b"a\tx\nno tab\n")
        response = line.makefile().read()
    server.shutdown()
    server.server_close()
    assert response == "! line 2 must be id, a tab and the value\n"
    assert producer.topic == []


def test_the_executor_id_is_read_from_the_parent_command_line(tmp_path):
    for pid, parent, command in (("self", "8", "python"), ("8", "1", "java\0--executor-id\0005")):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes(command.encode())
        (tmp_path / pid / "status").write_text(f"Name:\tx\nPPid:\t{parent}\n")
    assert executor_id(tmp_path) == "5"
    assert executor_id(tmp_path / "nowhere") is None
