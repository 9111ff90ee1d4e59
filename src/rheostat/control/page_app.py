"""The routes of the page: its HTML, its data, and a stream of changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from rheostat.control.access import Access, Guarded
from rheostat.control.jobs import UNREADABLE, Job, Jobs
from rheostat.control.page_text import live_page
from rheostat.errors import RheostatError
from rheostat.policies.registry import POLICIES

PROTECTED = ("/api", "/metrics", "/overview", "/status")
_LOOK_S, _HEARTBEAT_S, _STREAM_S = 1.0, 15.0, 900.0
WhatIf = Callable[[Job, Mapping[str, Any]], Mapping[str, Any]]


def reading_app(jobs: Jobs, access: Access, whatif: WhatIf | None = None) -> ASGIApp:
    """Return the application of a page without a driver; ``whatif`` answers what-if questions."""
    can: Mapping[str, Any] = {"policies": sorted(POLICIES)} if whatif else {}
    app = Starlette(routes=page_routes(jobs, can, whatif))
    return Guarded(GZipMiddleware(app), access, PROTECTED)


def page_routes(jobs: Jobs, can: Mapping[str, Any], whatif: WhatIf | None = None) -> list[Route]:
    """Return the routes of a page about jobs; ``can`` names additional features of the server."""

    def row_list(_: Request) -> Any:
        return {"jobs": jobs.rows(), "can": {"write": False, "whatif": bool(whatif), **can}}

    def series(request: Request) -> Any:
        points = int(_number(request, "points") or 600)
        return _job(jobs, request).series(_number(request, "from"), _number(request, "to"), points)

    def decisions(request: Request) -> Any:
        return _job(jobs, request).decisions(_number(request, "from"), _number(request, "to"))

    def record(request: Request) -> Any:
        return _job(jobs, request).record(_number(request, "at") or time.time())

    reads: Mapping[str, Callable[[Request], Any]] = {
        "/api/jobs": row_list,
        "/api/overview": lambda request: _job(jobs, request).overview(),
        "/api/series": series,
        "/api/decisions": decisions,
        "/api/record": record,
    }
    routes = [Route(path, answered(read)) for path, read in reads.items()]
    routes += [Route("/", _page), Route("/api/events", _events(jobs))]
    if whatif is not None:
        routes.append(Route("/api/whatif", _whatif_route(jobs, whatif), methods=["POST"]))
    return routes


def answered(read: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers with the result of ``read``, computed in a thread."""

    async def answer(request: Request) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(read, request))
        except RheostatError as wrong:
            return JSONResponse({"error": str(wrong)}, 400)
        except UNREADABLE as fault:
            return JSONResponse({"error": f"it cannot be read: {fault}"}, 502)

    return answer


async def _page(_: Request) -> Response:
    html, policy = live_page()
    return HTMLResponse(
        html,
        headers={
            "Content-Security-Policy": policy,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-cache",
        },
    )


def _events(jobs: Jobs) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            job = await run_in_threadpool(_job, jobs, request)
        except RheostatError as wrong:
            return JSONResponse({"error": str(wrong)}, 400)
        stream = _changes(job, request)
        return StreamingResponse(
            stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    return answer


async def _changes(job: Job, request: Request) -> AsyncIterator[str]:
    """Yield an event for every change of a job; the client reconnects after 15 minutes."""
    end_s, sent_s, last = time.monotonic() + _STREAM_S, time.monotonic(), None
    yield ": connected\n\n"
    while time.monotonic() < end_s and not await request.is_disconnected():
        try:
            version = await run_in_threadpool(job.version)
            if version != last:
                overview = await run_in_threadpool(job.overview)
                yield f"data: {json.dumps(overview)}\n\n"
                last, sent_s = version, time.monotonic()
        except UNREADABLE:
            pass  # the journal is being replaced, or the driver is unavailable
        if time.monotonic() - sent_s > _HEARTBEAT_S:
            yield ": alive\n\n"
            sent_s = time.monotonic()
        await asyncio.sleep(_LOOK_S)


def _whatif_route(jobs: Jobs, whatif: WhatIf) -> Callable[[Request], Awaitable[Response]]:
    busy = asyncio.Lock()

    async def answer(request: Request) -> Response:
        try:
            body = json.loads(await request.body() or b"{}")
        except ValueError:
            return JSONResponse({"error": "the body must be valid JSON"}, 400)
        if busy.locked():
            return JSONResponse({"error": "another question is being answered; wait for it"}, 409)
        async with busy:
            return await answered(lambda _: whatif(_job(jobs, request), body))(request)

    return answer


def _job(jobs: Jobs, request: Request) -> Job:
    return jobs.get(request.query_params.get("job"))


def _number(request: Request, name: str) -> float | None:
    text = request.query_params.get(name)
    try:
        value = float(text) if text else None
    except ValueError:
        raise RheostatError(f"{name} must be a number, but it is {text[:40]!r}") from None  # type: ignore[index]
    if value is not None and not abs(value) < 1e12:
        raise RheostatError(f"{name} must be a finite number, but it is {text!r:.40}")
    return value
