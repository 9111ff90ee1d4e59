"""Servers for pushed records, over HTTP and over a socket; both answer after the broker."""

from __future__ import annotations

import contextlib
import socketserver
from http.server import ThreadingHTTPServer

from rheostat.errors import BadInput
from rheostat.spark.fleet.directory import JsonHandler
from rheostat.spark.fleet.intake import (
    MOST_ID_BYTES,
    Intake,
    NotWritten,
    from_json_lines,
    from_tab_lines,
)

MOST_BYTES = 8 * 1024 * 1024
IDLE_S = 30.0


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


_READ_BYTES = 64 * 1024
MOST_LINE_BYTES = 1024 * 1024 + MOST_ID_BYTES


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
