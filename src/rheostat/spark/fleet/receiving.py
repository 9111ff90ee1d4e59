"""A receiver: a task on an executor that serves senders, over HTTP or a socket, until the driver
dismisses it. This module is imported on executors, which need Rheostat with the extra ``kafka``.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.spark.fleet.directory import JsonHandler
from rheostat.spark.fleet.intake import (
    MOST_ID_BYTES,
    PRODUCER_SETTINGS,
    Intake,
    NotWritten,
    from_json_lines,
    from_tab_lines,
)

MOST_BYTES = 8 * 1024 * 1024
IDLE_S = 30.0

_READ_BYTES = 64 * 1024
MOST_LINE_BYTES = 1024 * 1024 + MOST_ID_BYTES
BEAT_S = 0.5

LOST_S = 20.0
"""Without an answer from the driver for this many seconds a receiver ends: it is unreachable."""


def http_server(intake: Intake, bind: str) -> ThreadingHTTPServer:
    """Return a server on a free port of the address ``bind``, not yet serving."""

    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"
        timeout = IDLE_S

        def do_POST(self) -> None:  # noqa: N802
            """Take the records of a body, which are acknowledged all together or not at all."""
            length = self.headers.get("Content-Length", "")
            if self.path != "/records":
                self.answer(404, {"error": "records go to POST /records"}, closes=True)
            elif not length.isdecimal():
                self.answer(411, {"error": "Content-Length is missing"}, closes=True)
            elif int(length) > MOST_BYTES:
                refusal = f"at most {MOST_BYTES} bytes a request, but there are {length}"
                self.answer(413, {"error": refusal}, closes=True)
            else:
                self._take(self.rfile.read(int(length)))

        def _take(self, body: bytes) -> None:
            try:
                records = from_json_lines(body)
                intake.take(records)
            except BadInput as fault:
                self.answer(400, {"error": str(fault)})
            except NotWritten as fault:
                self.answer(503, {"error": str(fault)}, closes=True)
            else:
                self.answer(200, {"acknowledged": len(records)})

    server = ThreadingHTTPServer((bind, 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    return server


def socket_server(intake: Intake, bind: str) -> socketserver.ThreadingTCPServer:
    """Return a server on a free port of the address ``bind``, not yet serving.

    An unreadable line is answered with ``! `` and the expected format before the connection is
    closed; if records were not taken, it is closed without an answer.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            """Serve one sender until it disconnects or the receiver ends."""
            left = b""
            with contextlib.suppress(OSError, NotWritten):
                while got := self.request.recv(_READ_BYTES):
                    *lines, left = (left + got).split(b"\n")
                    if not self._take(lines, len(left)):
                        return

        def _take(self, lines: list[bytes], left_bytes: int) -> bool:
            try:
                if left_bytes > MOST_LINE_BYTES:
                    raise BadInput(f"a line is longer than {MOST_LINE_BYTES} bytes")
                records = from_tab_lines(lines)
            except BadInput as fault:
                self.request.sendall(f"! {fault}\n".encode())
                return False
            intake.take(records)
            self.request.sendall("".join(f"{record.id}\n" for record in records).encode())
            return True

    socketserver.ThreadingTCPServer.allow_reuse_address = False
    server = socketserver.ThreadingTCPServer((bind, 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    return server


SOURCES: Mapping[str, Callable[[Intake, str], Any]] = {"http": http_server, "socket": socket_server}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverTask:
    """A receiver's task: number, directory, source, public host (empty: its own), target."""

    number: int
    directory: tuple[str, int]
    protocol: str
    bind: str
    host: str
    topic: str
    kafka: Mapping[str, Any]
    rows_per_s: float = 0.0


def receive(task: ReceiverTask) -> None:
    """Serve senders until the driver's directory ends it; Spark's second attempts end at once."""
    from confluent_kafka import Producer
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        return
    serve(task, Producer({"log_level": "0", **task.kafka, **PRODUCER_SETTINGS}))


def serve(task: ReceiverTask, producer: Any) -> None:
    """Serve senders as ``receive`` does, with an existing producer."""
    intake = Intake(producer, task.topic, task.rows_per_s)
    server = SOURCES[task.protocol](intake, task.bind)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    address = {"address": f"{task.host}:{server.server_address[1]}", "executor": executor_id()}
    try:
        _report_until_dismissed(task, intake, address)
    finally:
        server.shutdown()
        server.server_close()
        intake.close()


def _report_until_dismissed(task: ReceiverTask, intake: Intake, address: dict[str, Any]) -> None:
    answered_s = time.monotonic()
    while time.monotonic() - answered_s < LOST_S:
        meter = intake.meter
        counts = {"rows": meter.rows, "busy_s": meter.busy_s(), "at_s": time.monotonic()}
        try:
            if not report(task, {**address, **counts}):
                return
            answered_s = time.monotonic()
        except (OSError, ValueError, http.client.HTTPException):
            pass  # the driver is busy or has ended
        time.sleep(BEAT_S)


def report(task: ReceiverTask, news: Mapping[str, Any]) -> bool:
    """Report to the driver's directory; return whether to continue."""
    connection = http.client.HTTPConnection(*task.directory, timeout=5.0)
    try:
        connection.request("POST", f"/receivers/{task.number}", json.dumps(news))
        answer = json.load(connection.getresponse())
        return bool(answer["go_on"])
    except KeyError:
        return False
    finally:
        connection.close()


def executor_id(proc: Path = Path("/proc")) -> str | None:
    """Return this process's executor id, from its ancestors' arguments; None if unknown."""
    pid = "self"
    try:
        for _ in range(6):
            words = (proc / pid / "cmdline").read_bytes().split(b"\0")
            if b"--executor-id" in words:
                return words[words.index(b"--executor-id") + 1].decode()
            status = (proc / pid / "status").read_text()
            pid = next(line for line in status.splitlines() if line.startswith("PPid:")).split()[1]
    except (OSError, StopIteration, IndexError):
        return None
    return None
