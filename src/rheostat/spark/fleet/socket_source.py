"""Records over a socket: lines ``id TAB value``, each answered with its id after the broker."""

from __future__ import annotations

import contextlib
import socketserver

from rheostat.errors import BadInput
from rheostat.spark.fleet.intake import Intake, NotWritten
from rheostat.spark.fleet.records import MOST_ID_BYTES, from_tab_lines

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
