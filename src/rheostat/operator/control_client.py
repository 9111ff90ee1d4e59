"""The HTTP client of the drivers' control APIs."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

from rheostat.control.driver_report import Report, report_of
from rheostat.control.sizing import Sizing, to_json
from rheostat.errors import BadInput
from rheostat.operator.operator_ports import ApiError, Endpoint, require_lead

_WAIT_S = 3.0
_REASONS = {400: "Refused", 401: "WrongToken", 403: "NoToken", 409: "Refused"}


class ControlClient:
    """A connection pool to all drivers; every answer must arrive within three seconds.

    ``token`` is sent to drivers that have no token of their own. A write while ``leads`` returns
    False raises NotLeading.
    """

    def __init__(self, token: str | None, leads: Callable[[], bool] = lambda: True) -> None:
        self._token, self._leads = token, leads
        wait = aiohttp.ClientTimeout(total=_WAIT_S)
        pool = aiohttp.TCPConnector(limit=256, keepalive_timeout=45)
        self._session = aiohttp.ClientSession(timeout=wait, connector=pool)

    async def ask(self, endpoint: Endpoint) -> Report:
        """Return the report of a driver."""
        return await self._call("GET", endpoint, "/status", None)

    async def direct(self, endpoint: Endpoint, sizing: Sizing) -> Report:
        """Send a driver the sizing of its application."""
        return await self._call("PUT", endpoint, "/sizing", to_json(sizing))

    async def drain(self, endpoint: Endpoint) -> Report:
        """Request that a driver drains its queries."""
        return await self._call("PUT", endpoint, "/drain", {})

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _call(
        self, method: str, endpoint: Endpoint, path: str, body: Mapping[str, Any] | None
    ) -> Report:
        if method != "GET":
            require_lead(self._leads)
        where = f"the control API at {endpoint.address}"
        try:
            request = self._session.request(method, **self._request(endpoint, path), json=body)
            async with request as answer:
                read = await answer.json(content_type=None)
                if answer.status == 200:
                    return report_of(read)
                message = str(read.get("error") if isinstance(read, Mapping) else read)
                reason = _REASONS.get(answer.status, "NoAnswer")
                raise ApiError(reason, f"{where} answered {answer.status}: {message}")
        except (aiohttp.ClientSSLError, ssl.SSLError) as fault:
            raise ApiError("NoTrust", f"{where} has no trusted certificate: {fault}") from None
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as fault:
            message = str(fault) or type(fault).__name__
            raise ApiError("NoAnswer", f"{where} does not answer: {message}") from None
        except (ValueError, BadInput) as fault:
            raise ApiError("NoAnswer", f"{where} gave no report: {fault}") from None

    def _request(self, endpoint: Endpoint, path: str) -> dict[str, Any]:
        token = endpoint.token or self._token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if not endpoint.ca:
            return {"url": f"http://{endpoint.address}{path}", "headers": headers}
        return {
            "url": f"https://{endpoint.address}{path}",
            "headers": headers,
            "ssl": _trusting(endpoint.ca),
            "server_hostname": endpoint.name,
        }


@functools.lru_cache(maxsize=256)
def _trusting(ca: str) -> ssl.SSLContext:
    """Return a context that trusts only these certificates; raises SSLError for invalid ones."""
    return ssl.create_default_context(cadata=ca)
