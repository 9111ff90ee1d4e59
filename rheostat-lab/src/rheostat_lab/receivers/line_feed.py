"""A sender of numbered lines over plain sockets, which records what it has sent: the source of
``socketTextStream``, which cannot be replayed.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

_STEP_S = 0.05


class LineFeed:
    """Sends lines ``N`` to its client, ``rate(t)`` per second, t seconds after the start.

    A line counts as sent once the socket has accepted it; without a client nothing is sent.
    """

    def __init__(self, rate: Callable[[float], float]) -> None:
        self._rate = rate
        self._end = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self._started_s = time.monotonic()
        self.sent: list[int] = []

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self._server.getsockname()[1])

    def start(self) -> LineFeed:
        """Start sending in a thread."""
        self._started_s = time.monotonic()
        self._server.settimeout(0.2)
        threading.Thread(target=self._run, name="line-feed", daemon=True).start()
        return self

    def stop(self) -> None:
        """Stop sending."""
        self._end.set()

    def __enter__(self) -> LineFeed:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        with self._server:
            while not self._end.is_set():
                try:
                    connection, _ = self._server.accept()
                except TimeoutError:
                    continue
                with connection:
                    self._send(connection)

    def _send(self, connection: socket.socket) -> None:
        due = 0.0
        while not self._end.wait(_STEP_S):
            due += self._rate(time.monotonic() - self._started_s) * _STEP_S
            lines = range(len(self.sent), len(self.sent) + int(due))
            try:
                connection.sendall("".join(f"{line}\n" for line in lines).encode())
            except OSError:  # the receiver has ended; the next one connects
                return
            self.sent.extend(lines)
            due -= int(due)
