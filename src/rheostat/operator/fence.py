"""Blocks the writes of an operator that no longer leads, for example after a pause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing
from rheostat.operator.operator_ports import Cluster, ControlApis, Endpoint


class NotLeading(Exception):
    """Another operator leads; the request was not sent."""


class FencedCluster:
    """A cluster that accepts writes only while ``leads`` returns True."""

    def __init__(self, cluster: Cluster, leads: Callable[[], bool]) -> None:
        self._cluster, self._leads = cluster, leads

    async def write_status(self, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Merge ``status`` into the status of a resource."""
        _check(self._leads)
        await self._cluster.write_status(namespace, name, status)

    async def write_scale(self, namespace: str, name: str, replicas: int) -> None:
        """Write the size to a resource's scale sub-resource."""
        _check(self._leads)
        await self._cluster.write_scale(namespace, name, replicas)

    async def start(self, pod: Mapping[str, Any]) -> None:
        """Create a pod."""
        _check(self._leads)
        await self._cluster.start(pod)

    async def stop(self, namespace: str, name: str, uid: str) -> None:
        """Delete a pod unless a different pod has its name by now."""
        _check(self._leads)
        await self._cluster.stop(namespace, name, uid)

    async def secret(self, namespace: str, name: str) -> Mapping[str, str]:
        """Return the values of a Secret as text."""
        return await self._cluster.secret(namespace, name)

    async def tell(self, body: Mapping[str, Any], kind: str, reason: str, message: str) -> None:
        """Write an event about a resource."""
        _check(self._leads)
        await self._cluster.tell(body, kind, reason, message)


class FencedControlApis:
    """Control APIs that accept writes only while ``leads`` returns True; reads always work."""

    def __init__(self, drivers: ControlApis, leads: Callable[[], bool]) -> None:
        self._drivers, self._leads = drivers, leads

    async def ask(self, endpoint: Endpoint) -> Report:
        """Return the report of a driver."""
        return await self._drivers.ask(endpoint)

    async def direct(self, endpoint: Endpoint, sizing: Sizing) -> Report:
        """Send a driver the sizing of its application."""
        _check(self._leads)
        return await self._drivers.direct(endpoint, sizing)

    async def drain(self, endpoint: Endpoint) -> Report:
        """Request that a driver drains its queries."""
        _check(self._leads)
        return await self._drivers.drain(endpoint)


def _check(leads: Callable[[], bool]) -> None:
    if not leads():
        raise NotLeading("another operator leads")
