"""Access control of the HTTP API: tokens, host names, origins, and a size limit."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import socket
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rheostat.control.driver_report import TOKEN_VARIABLE

READ_TOKEN_VARIABLE = "RHEOSTAT_READ_TOKEN"  # noqa: S105  (a variable's name)
MAX_BODY_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Access:
    """The effective tokens (None if not configured) and additional host names."""

    token: str | None = field(default=None, repr=False)
    read_token: str | None = field(default=None, repr=False)
    hosts: frozenset[str] = frozenset()

    @classmethod
    def of_environment(cls, hosts: frozenset[str] = frozenset()) -> Access:
        """Return the access that the environment variables configure."""
        token, read_token = (os.environ.get(n) for n in (TOKEN_VARIABLE, READ_TOKEN_VARIABLE))
        return cls(token or None, read_token or None, hosts)

    def may_write(self, authorization: str) -> bool:
        """Return whether a header carries the token for writes."""
        return _equal(authorization, self.token)

    def may_read(self, authorization: str) -> bool:
        """Return whether a header carries a token for reads, or reads need none."""
        tokens = (self.read_token, self.token)
        return self.read_token is None or any(_equal(authorization, token) for token in tokens)


def _equal(authorization: str, token: str | None) -> bool:
    wanted = f"Bearer {token}".encode()
    return hmac.compare_digest(authorization.encode(), wanted) and token is not None


def host_is_known(host: str, hosts: frozenset[str]) -> bool:
    """Return whether a Host header names this server: an address, ``localhost``, this computer, or
    one of ``hosts``.

    This check rejects the page of another site that rebinds its own name to this address.
    """
    name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        own = socket.gethostname().lower()
        return name in {"localhost", own, own.partition(".")[0]} | hosts
    return True


def is_same_origin(origin: str | None, host: str) -> bool:
    """Return whether a request comes from a page of this server, or from no page."""
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


class Guarded:
    """Checks every request before the application handles it, and limits its size."""

    def __init__(self, app: ASGIApp, access: Access, protected: tuple[str, ...]) -> None:
        self._app, self._access, self._protected = app, access, protected

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refused = self._refusal(request)
        if refused is not None:
            await refused(scope, receive, send)
            return
        try:
            await self._app(scope, _bounded(receive), send)
        except (asyncio.TimeoutError, OSError):
            return  # the connection is unusable; uvicorn closes it

    def _refusal(self, request: Request) -> JSONResponse | None:
        headers, access = request.headers, self._access
        host, authorization = headers.get("host", ""), headers.get("authorization", "")
        if not host_is_known(host, access.hosts):
            return _error(421, f"unknown host {host[:80]!r}; use an address, or name it in hosts")
        writes = request.method not in ("GET", "HEAD")
        if writes and not is_same_origin(headers.get("origin"), host):
            return _error(403, "the request comes from a page of another site")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return _error(413, _BODY_TEXT)
        is_data = request.url.path.startswith(self._protected)
        if is_data and not writes and not access.may_read(authorization):
            return _error(401, "the read token is missing or wrong")
        return None


_BODY_TEXT = f"the body may have at most {MAX_BODY_BYTES} bytes"


def _error(status: int, message: str) -> JSONResponse:
    # Close the connection: the rest of a large body must not be parsed as the next request.
    return JSONResponse({"error": message}, status, headers={"Connection": "close"})


def _bounded(receive: Receive) -> Receive:
    size = 0

    async def bounded() -> Message:
        nonlocal size
        message: MutableMapping[str, Any] = await receive()
        size += len(message.get("body", b""))
        if size > MAX_BODY_BYTES:
            raise HTTPException(413, _BODY_TEXT, {"Connection": "close"})
        return message

    return bounded
