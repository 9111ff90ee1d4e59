"""The HTTP API of a driver: the page of its own job, its metrics, and writes with a token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from rheostat.control.access import Access, Guarded
from rheostat.control.control_service import ControlService, Refused
from rheostat.control.driver_report import TOKEN_VARIABLE, Report, report_json
from rheostat.control.jobs import Jobs
from rheostat.control.page_app import PROTECTED, answered, page_routes
from rheostat.control.sizing import sizing_of
from rheostat.errors import BadInput
from rheostat.metrics.prometheus import CONTENT_TYPE

_BODY_S = 10.0
_AUTHOR_CHARACTERS = 60
Overview = Callable[[], Mapping[str, Any]]
Note = Callable[[str, str], None]
"""Records an action and its author in the journal."""

Write = Callable[[ControlService, Mapping[str, Any]], Report]
_WRITES: Mapping[str, Write] = {
    "drain": lambda service, _: service.drain(),
    "halt": lambda service, _: service.halt(),
    "resume": lambda service, _: service.resume(),
    "scale": lambda service, body: service.resize(body.get("executors")),
    "sizing": lambda service, body: service.direct(sizing_of(body)),
    "pin": lambda service, body: service.pin(body.get("executors"), body.get("minutes", 60)),
    "limits": lambda service, body: service.change({"limits": dict(body)}),
    "objective": lambda service, body: service.change({"slo": body.get("slo_s")}),
}


def control_app(
    service: ControlService,
    access: Access,
    overview: Overview = dict,
    jobs: Jobs | None = None,
    note: Note | None = None,
) -> ASGIApp:
    """Return the application of a driver: its page, report, metrics, and writes.

    Without a token the API is read-only. ``overview`` returns the answer to ``GET /overview``,
    ``jobs`` are the jobs of the page, and ``note`` receives each successful write.
    """

    async def metrics(_: Request) -> Response:
        text = await run_in_threadpool(service.metrics.text)
        return Response(text, media_type=CONTENT_TYPE)

    routes = [
        Route("/metrics", metrics),
        Route("/overview", answered(lambda _: dict(overview()))),
        Route("/status", answered(lambda _: report_json(service.report()))),
    ]
    routes += [
        Route(f"/{name}", _write_route(service, access, name, note), methods=["PUT"])
        for name in _WRITES
    ]
    if jobs is not None:
        routes += page_routes(jobs, {"write": access.token is not None})
    paths = [route.path for route in routes]
    app = Starlette(routes=routes, exception_handlers={404: _unknown_path(paths)})
    return Guarded(GZipMiddleware(app), access, PROTECTED)


def _write_route(
    service: ControlService, access: Access, name: str, note: Note | None
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if access.token is None:
            error = f"the control API is read-only without a token; set {TOKEN_VARIABLE}"
            return JSONResponse({"error": error}, 403)
        if not access.may_write(request.headers.get("authorization", "")):
            return JSONResponse({"error": "the token is missing or wrong"}, 401)
        body = await asyncio.wait_for(request.body(), _BODY_S)
        content, status = await run_in_threadpool(_written, service, name, body)
        # An HPA repeats ``scale``, an operator ``sizing``: the journal records what they change.
        if status == 200 and note is not None and name not in ("scale", "sizing"):
            text = f"{name} {body.decode(errors='replace')}" if len(body) > 2 else name
            await run_in_threadpool(note, text[:500], author_of(request))
        return JSONResponse(content, status)

    return answer


def author_of(request: Request) -> str:
    """Return the author of a request: the name that it states, and its network address."""
    given = unquote(request.headers.get("x-rheostat-author", ""))
    name = "".join(filter(str.isprintable, given)).strip()[:_AUTHOR_CHARACTERS]
    address = request.client.host if request.client else "unknown"
    return f"{name or 'the control API'} ({address})"


def _written(service: ControlService, name: str, body: bytes) -> tuple[Mapping[str, Any], int]:
    try:
        return report_json(_WRITES[name](service, _object(body))), 200
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
