"""The routes of the HTTP API: the page and its data for readers, and writes with a token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from rheostat.control.access import Access, Guarded
from rheostat.control.control_service import ControlService, Refused
from rheostat.control.driver_report import TOKEN_VARIABLE, Report, report_json
from rheostat.control.sizing import sizing_of
from rheostat.errors import BadInput
from rheostat.metrics.registry import CONTENT_TYPE

_BODY_S = 10.0
Overview = Callable[[], Mapping[str, Any]]
Write = Callable[[ControlService, Mapping[str, Any]], Report]
_WRITES: Mapping[str, Write] = {
    "/drain": lambda service, _: service.drain(),
    "/halt": lambda service, _: service.halt(),
    "/resume": lambda service, _: service.resume(),
    "/scale": lambda service, body: service.resize(body.get("executors")),
    "/sizing": lambda service, body: service.direct(sizing_of(body)),
}
_PROTECTED = ("/api", "/metrics", "/overview", "/status")


def control_app(service: ControlService, access: Access, overview: Overview = dict) -> ASGIApp:
    """Return the application of a driver: its report, its metrics, and its writes.

    Without a token the API is read-only. ``overview`` returns the answer to ``GET /overview``.
    """

    def metrics(_: Request) -> Response:
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    reads = {
        "/metrics": metrics,
        "/overview": lambda _: JSONResponse(dict(overview())),
        "/status": lambda _: JSONResponse(report_json(service.report())),
    }
    routes = [Route(path, _in_thread(read), methods=["GET"]) for path, read in reads.items()]
    routes += [
        Route(path, _write_route(service, access, write), methods=["PUT"])
        for path, write in _WRITES.items()
    ]
    app = Starlette(routes=routes, exception_handlers={404: _unknown_path([*reads, *_WRITES])})
    return Guarded(app, access, _PROTECTED)


def _in_thread(read: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await run_in_threadpool(read, request)

    return answer


def _write_route(
    service: ControlService, access: Access, write: Write
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if access.token is None:
            error = f"the control API is read-only without a token; set {TOKEN_VARIABLE}"
            return JSONResponse({"error": error}, 403)
        if not access.may_write(request.headers.get("authorization", "")):
            return JSONResponse({"error": "the token is missing or wrong"}, 401)
        body = await asyncio.wait_for(request.body(), _BODY_S)
        return JSONResponse(*await run_in_threadpool(_written, service, write, body))

    return answer


def _written(service: ControlService, write: Write, body: bytes) -> tuple[Mapping[str, Any], int]:
    try:
        return report_json(write(service, _object(body))), 200
    except Refused as refused:
        return {"error": str(refused)}, 409
    except BadInput as wrong:
        return {"error": str(wrong)}, 400


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        read = json.loads(body or b"{}")
    except ValueError:
        raise BadInput(f"the body must be valid JSON, but it is {body[:80]!r}") from None
    if not isinstance(read, dict):
        raise BadInput(f"the body must be a JSON object, but it is {body[:80]!r}")
    return read


def _unknown_path(paths: list[str]) -> Callable[[Request, Exception], JSONResponse]:
    def answer(request: Request, _: Exception) -> JSONResponse:
        error = f"unknown path {request.url.path}; use {', '.join(sorted(paths))}"
        return JSONResponse({"error": error}, 404)

    return answer
