"""The agent's HTTP: ``GET /metrics``, ``/overview`` and ``/status``; ``PUT /scale``, ``/sizing``,
``/halt``, ``/resume`` and ``/drain`` with a token.
"""

from __future__ import annotations

import hmac
import json
import logging
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from rheostat.agent.agent_report import TOKEN_VARIABLE, Report, report_json
from rheostat.agent.agent_service import AgentService, Refused
from rheostat.agent.gauges import GAUGES, PREFIX
from rheostat.agent.sizing import sizing_of
from rheostat.errors import BadInput

_log = logging.getLogger("rheostat")
_LARGEST_BYTES = 65_536
_IDLE_S = 60.0
Overview = Callable[[], Mapping[str, Any]]
Writes = Mapping[str, Callable[[AgentService, Mapping[str, Any]], Report]]
_WRITES: Writes = {
    "/drain": lambda service, _: service.drain(),
    "/halt": lambda service, _: service.halt(),
    "/resume": lambda service, _: service.resume(),
    "/scale": lambda service, read: service.resize(read.get("executors")),
    "/sizing": lambda service, read: service.direct(sizing_of(read)),
}


class Server:
    """Serves an agent service in threads of its own, which never keep the application from ending.

    Without a ``token`` the API is read-only. ``overview`` returns the answer to ``GET /overview``.
    Raises BadInput for an address in use.
    """

    def __init__(
        self,
        service: AgentService,
        host: str,
        port: int,
        token: str | None,
        overview: Overview = dict,
    ) -> None:
        self._handler = _handler(service, token, overview)
        try:
            self._http = _Http((host, port), self._handler)
        except OSError as error:
            raise BadInput(
                f"agent: cannot listen on {host}:{port}: {error.strerror}; use another port,"
                " or 0 for a free one"
            ) from None
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.2,), name="rheostat-agent", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """The address of the server, as ``host:port``."""
        host, port = self._http.server_address[:2]
        return f"{host!s}:{port}"

    def close(self) -> None:
        """Stop listening, and stop answering on open connections."""
        self._handler.closed = True
        self._http.shutdown()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Log a client that disconnected at debug level instead of on standard error."""
        _log.debug("rheostat agent: a request of %s failed", client_address, exc_info=True)


def _handler(service: AgentService, token: str | None, overview: Overview) -> type[_Handler]:
    class Handler(_Handler):
        pass

    Handler.service, Handler.token, Handler.overview = service, token, staticmethod(overview)
    return Handler


class _Handler(BaseHTTPRequestHandler):
    service: AgentService
    token: str | None
    overview: Overview
    closed = False
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if self.closed:
            self.close_connection = True
        elif path == "/metrics":
            self._answer(HTTPStatus.OK, _exposition(self.service.report()), CONTENT_TYPE_LATEST)
        elif path == "/status":
            self._tell(HTTPStatus.OK, report_json(self.service.report()))
        elif path == "/overview":
            self._tell(HTTPStatus.OK, self.overview())
        else:
            self._tell(*_no_such(path, ("/metrics", "/overview", "/status")))

    def do_PUT(self) -> None:
        path = self.path.partition("?")[0]
        body = self._body()
        if body is None or self.closed:
            self.close_connection = True
            return
        if path not in _WRITES:
            self._tell(*_no_such(path, tuple(_WRITES)))
        elif self.token is None:
            error = f"the control API is read-only without a token; set {TOKEN_VARIABLE}"
            self._tell(HTTPStatus.FORBIDDEN, {"error": error})
        elif not self._knows_token(self.token):
            self._tell(HTTPStatus.UNAUTHORIZED, {"error": "the token is missing or wrong"})
        else:
            self._tell(*_written(self.service, path, body))

    def _knows_token(self, token: str) -> bool:
        given = self.headers.get("Authorization", "").encode()
        return hmac.compare_digest(given, f"Bearer {token}".encode())

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > _LARGEST_BYTES:
            self.close_connection = True
            error = f"the body must have a Content-Length of at most {_LARGEST_BYTES} bytes"
            self._tell(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": error})
            return None
        return self.rfile.read(int(length))

    def _tell(self, status: HTTPStatus, value: Mapping[str, Any]) -> None:
        self._answer(status, (json.dumps(value) + "\n").encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log requests at debug level only."""
        _log.debug("rheostat agent: " + format, *args)


def _written(service: AgentService, path: str, body: bytes) -> tuple[HTTPStatus, Mapping[str, Any]]:
    try:
        read = json.loads(body or b"{}")
        if not isinstance(read, dict):
            raise BadInput(f"the body must be a JSON object, but it is {body[:80]!r}")
        return HTTPStatus.OK, report_json(_WRITES[path](service, read))
    except ValueError:
        return HTTPStatus.BAD_REQUEST, {
            "error": f"the body must be valid JSON, but it is {body[:80]!r}"
        }
    except Refused as refused:
        return HTTPStatus.CONFLICT, {"error": str(refused)}
    except BadInput as wrong:
        return HTTPStatus.BAD_REQUEST, {"error": str(wrong)}


def _no_such(path: str, there: tuple[str, ...]) -> tuple[HTTPStatus, Mapping[str, Any]]:
    return HTTPStatus.NOT_FOUND, {"error": f"unknown path {path}; use {', '.join(there)}"}


def _exposition(report: Report) -> bytes:
    """Return the gauges in the text format of Prometheus; an absent gauge has no sample."""
    registry = CollectorRegistry()
    labels = {"application": report.application or ""}
    for name, value in sorted(report.metrics.items()):
        gauge = Gauge(name, GAUGES[name.removeprefix(PREFIX)], [*labels], registry=registry)
        gauge.labels(**labels).set(value)
    halted = Gauge(f"{PREFIX}halted", "1 while decisions are halted", registry=registry)
    halted.set(float(report.halted))
    if report.age_s is not None:
        age = Gauge(f"{PREFIX}tick_age_s", "seconds since the last tick", registry=registry)
        age.set(report.age_s)
    return generate_latest(registry)
