# mypy: disallow-untyped-calls=False
"""Messages to a webhook: their formats, retries, and receivers that hang."""

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("tenacity", reason="comes with the extra webhook")

from tests.fakes import RecordingActuator, ScriptedSensor
from tests.unit.metrics.test_record_metrics import record
from tests.unit.spark.test_exports import started
from tests.unit.test_loop import AskFor, Ticks, at

from rheostat.journal.events import EventStream
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.metrics.webhook import BODIES, Webhook


def event():
    rescale = EventStream().next(record(0, 2, 4))
    assert rescale
    return rescale


class Receiver:
    """An HTTP server that answers with the statuses of ``script``, then with 200; it does not
    answer before it is released."""

    def __init__(self, script=(), released=True):
        self.bodies: list[Any] = []
        self.arrived = threading.Semaphore(0)
        self.released = threading.Event()
        if released:
            self.released.set()
        statuses = iter(script)
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.arrived.release()
                receiver.released.wait(60)
                status = next(statuses, 200)
                if status == 200:
                    receiver.bodies.append(json.loads(body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/secret"

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receive():
    receivers = []

    def make(**options):
        receivers.append(Receiver(**options))
        return receivers[-1]

    yield make
    for receiver in receivers:
        receiver.close()


def test_events_arrive_in_order_and_errors_are_retried(receive):
    receiver = receive(script=[503])
    webhook = Webhook(receiver.url)
    webhook.send({**event(), "target": 1})
    webhook.send({**event(), "target": 2})
    webhook._waiting.put(None)
    webhook._thread.join(30)
    assert [body["target"] for body in receiver.bodies] == [1, 2]


def test_an_unresponsive_receiver_blocks_no_sender_and_the_queue_is_bounded(receive, caplog):
    receiver = receive(released=False)
    webhook = Webhook(receiver.url, most=3)
    webhook.send(event())
    assert receiver.arrived.acquire(timeout=300)  # the thread now waits for an answer
    with caplog.at_level(logging.WARNING):
        for _ in range(50):
            webhook.send(event())
    assert webhook._waiting.qsize() == 3
    (line,) = caplog.messages
    assert "events are dropped" in line
    assert receiver.bodies == []


def test_a_rejecting_receiver_is_logged_once_without_its_url(receive, caplog):
    receiver = receive(script=[404, 404])
    webhook = Webhook(receiver.url)
    webhook.send(event())
    webhook.send(event())
    webhook._waiting.put(None)
    webhook._thread.join(30)
    (line,) = [m for m in caplog.messages if m.startswith("rheostat")]
    assert "404" in line
    assert "secret" not in caplog.text


@pytest.mark.parametrize("name", BODIES)
def test_every_format_is_json_with_sizes_and_reason(name):
    body = json.dumps(BODIES[name](event()))
    assert "because" in body
    if name != "json":
        assert "rescales from 2 to 4 executors" in body


def test_the_loop_continues_while_the_receiver_hangs(receive):
    receiver, actuator, ticks = receive(released=False), RecordingActuator(), 300
    handle = started(webhook=receiver.url)
    loop = Loop(
        sensor=ScriptedSensor(at(float(number)) for number in range(ticks + 1)),
        policy=AskFor(*[2, 5] * ticks),  # each tick is an event; together they exceed the queue
        guards=(),
        actuator=actuator,
        journal=MemoryJournal(),
    )
    handle.tick(loop.step(0.0))
    assert receiver.arrived.acquire(timeout=300)
    loop.run(0.0, Ticks(ticks), handle.tick)
    # The first message is still unanswered, and all ticks have ended.
    assert len(actuator.requests) == ticks + 1
    assert not receiver.released.is_set()
    assert receiver.bodies == []
