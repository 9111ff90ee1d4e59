"""A web server in its own thread, which never prevents the application from ending."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from rheostat.errors import BadInput

_log = logging.getLogger("rheostat")
MOST_CONNECTIONS = 100
_FIRST_REQUEST_S, _STALLED_S, _START_S, _CLOSE_S = 10.0, 20.0, 10.0, 3.0


class _Protocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose first request does not arrive in time, and aborts one
    whose client stops reading; a graceful close would wait for that client.
    """

    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(_FIRST_REQUEST_S, self._close_if_idle)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(_STALLED_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def _close_if_idle(self) -> None:
        if self.cycle is None:
            self.transport.close()


class Server:
    """Serves an application at ``host:port``; port 0 selects a free one.

    ``tls`` are the files of a certificate and its key. Raises BadInput for an address in use and
    for invalid certificate files.
    """

    def __init__(
        self, app: ASGIApp, host: str, port: int, tls: tuple[str, str] | None = None
    ) -> None:
        self._tls = tls
        self._socket = _listening(host, port)
        config: dict[str, Any] = {
            "http": _Protocol,
            "ws": "none",
            "loop": "asyncio",
            "lifespan": "off",
            "log_config": None,
            "access_log": False,
            "server_header": False,
            "limit_concurrency": MOST_CONNECTIONS,
            "timeout_graceful_shutdown": 1,
        }
        if tls:
            config |= {"ssl_certfile": tls[0], "ssl_keyfile": tls[1]}
        self._server = uvicorn.Server(uvicorn.Config(app, **config))
        try:
            self._server.config.load()
        except OSError as error:  # ssl.SSLError is one
            self._socket.close()
            raise BadInput(f"the certificate {tls} cannot be used: {error}") from None
        self._thread = threading.Thread(target=self._run, name="rheostat-control", daemon=True)
        self._thread.start()
        self._wait_for_start()

    @property
    def address(self) -> str:
        """The address of the server, as ``host:port``."""
        host, port = self._name
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{'https' if self._tls else 'http'}://{self.address}/"

    def close(self) -> None:
        """Stop listening, and stop answering on open connections."""
        self._server.should_exit = True
        if self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_S)

    def wait(self) -> None:
        """Block until the server has ended; a keyboard interrupt ends it."""
        while self._thread.is_alive():
            self._thread.join(1.0)

    def _run(self) -> None:
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        try:
            self._server.run(sockets=[self._socket])
        except Exception as fault:  # a failure here must not affect the job
            _log.warning("rheostat: the control API has ended: %s", fault)

    def _wait_for_start(self) -> None:
        self._name: tuple[str, int] = self._socket.getsockname()[:2]
        until_s = time.monotonic() + _START_S
        while not self._server.started and self._thread.is_alive() and time.monotonic() < until_s:
            time.sleep(0.005)


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise BadInput(
            f"serve: cannot listen on {host}:{port}: {error.strerror}; use another port,"
            " or 0 for a free one"
        ) from None
