"""The driver's directory of receivers: takes their reports, serves their addresses to senders."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Beat:
    """A receiver's last report; ``at_s`` is its own clock, ``received_s`` the driver's."""

    address: str
    executor: str | None
    rows: int
    busy_s: float
    at_s: float
    received_s: float


class Directory:
    """Serves ``GET /receivers`` to senders and ``POST /receivers/N`` to receivers."""

    def __init__(self, bind: str, clock: Callable[[], float]) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        self._beats: dict[int, Beat] = {}
        self._wanted: set[int] = set()
        self._server = ThreadingHTTPServer((bind, 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        """The port that the directory listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Start to answer requests in a background thread."""
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.2,), name="receivers", daemon=True).start()

    def stop(self) -> None:
        """Stop answering requests."""
        self._server.shutdown()
        self._server.server_close()

    def expect(self, receiver: int) -> None:
        """Mark a receiver as wanted."""
        with self._lock:
            self._wanted.add(receiver)

    def dismiss(self, receiver: int) -> None:
        """Dismiss a receiver: senders no longer get its address, and its next report ends it."""
        with self._lock:
            self._wanted.discard(receiver)

    def forget(self, receiver: int) -> None:
        """Remove a receiver that has ended."""
        with self._lock:
            self._wanted.discard(receiver)
            self._beats.pop(receiver, None)

    def beats(self) -> dict[int, Beat]:
        """Return the last report of each receiver."""
        with self._lock:
            return dict(self._beats)

    def addresses(self) -> list[str]:
        """Return the addresses that accept records."""
        with self._lock:
            wanted = sorted(self._wanted & self._beats.keys())
            return [self._beats[receiver].address for receiver in wanted]

    def record_report(self, receiver: int, report: Mapping[str, Any]) -> bool:
        """Take a receiver's report, and return whether it shall continue."""
        executor = report.get("executor")
        beat = Beat(
            str(report["address"]),
            None if executor is None else str(executor),
            int(report["rows"]),
            float(report["busy_s"]),
            float(report["at_s"]),
            self._clock(),
        )
        with self._lock:
            if receiver in self._wanted:
                self._beats[receiver] = beat
            return receiver in self._wanted


class JsonHandler(BaseHTTPRequestHandler):
    """Answers in JSON and logs nothing: an executor's log is not an access log."""

    def answer(self, status: int, answer: Mapping[str, Any], closes: bool = False) -> None:
        """Send an answer; the last one of the connection if it ``closes``."""
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if closes:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def _handler(directory: Directory) -> type[BaseHTTPRequestHandler]:
    class Handler(JsonHandler):
        timeout = 10.0

        def do_GET(self) -> None:
            """Return the addresses of the receivers to a sender."""
            known = self.path == "/receivers"
            answer = {"receivers": directory.addresses()} if known else {"error": "GET /receivers"}
            self.answer(200 if known else 404, answer)

        def do_POST(self) -> None:
            """Take the report of a receiver."""
            try:
                length = min(int(self.headers.get("Content-Length", 0)), _MOST_BYTES)
                report = json.loads(self.rfile.read(length))
                go_on = directory.record_report(int(self.path.removeprefix("/receivers/")), report)
            except (ValueError, KeyError, TypeError, AttributeError):
                self.answer(400, {"error": "POST /receivers/N with a receiver's report"})
            else:
                self.answer(200, {"go_on": go_on})

    return Handler
