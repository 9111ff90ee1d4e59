"""The HTTP client of the drivers' agents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp

from rheostat.control.driver_report import Report, report_of
from rheostat.control.sizing import Sizing, to_json
from rheostat.errors import BadInput
from rheostat.operator.operator_ports import Silent

_REASONS = {400: "Refused", 401: "WrongToken", 403: "NoToken", 409: "Refused"}


class AgentClient:
    """One pool of connections to all agents; every answer is waited for at most ``wait_s``."""

    def __init__(self, token: str | None, wait_s: float = 3.0) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        wait = aiohttp.ClientTimeout(total=wait_s)
        pool = aiohttp.TCPConnector(limit=256, keepalive_timeout=45)
        self._session = aiohttp.ClientSession(headers=headers, timeout=wait, connector=pool)

    async def ask(self, address: str) -> Report:
        """Return what an agent reports."""
        return await self._call("GET", address, "/status", None)

    async def direct(self, address: str, sizing: Sizing) -> Report:
        """Set how an agent sizes its application."""
        return await self._call("PUT", address, "/sizing", to_json(sizing))

    async def drain(self, address: str) -> Report:
        """Order an agent to drain its queries."""
        return await self._call("PUT", address, "/drain", {})

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _call(
        self, method: str, address: str, path: str, body: Mapping[str, Any] | None
    ) -> Report:
        try:
            async with self._session.request(
                method, f"http://{address}{path}", json=body
            ) as answer:
                read = await answer.json(content_type=None)
                if answer.status == 200:
                    return report_of(read)
                message = str(read.get("error") if isinstance(read, Mapping) else read)
                reason = _REASONS.get(answer.status, "NoAnswer")
                raise Silent(reason, f"the agent at {address} says {answer.status}: {message}")
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as fault:
            message = str(fault) or type(fault).__name__
            raise Silent("NoAnswer", f"the agent at {address} does not answer: {message}") from None
        except (ValueError, BadInput) as fault:
            raise Silent("NoAgent", f"what answers at {address} is no agent: {fault}") from None
