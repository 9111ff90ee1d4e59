"""Blocks the requests of an operator that no longer leads, such as one that was paused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing
from rheostat.operator.operator_ports import Agents, Cluster


class NotLeading(Exception):
    """Another operator leads; nothing was done."""


class FencedCluster:
    """A cluster that is written only while ``leads`` is true."""

    def __init__(self, cluster: Cluster, leads: Callable[[], bool]) -> None:
        self._cluster, self._leads = cluster, leads

    async def write_status(self, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Merge this into the status of a resource."""
        _check(self._leads)
        await self._cluster.write_status(namespace, name, status)

    async def write_scale(self, namespace: str, name: str, replicas: int) -> None:
        """Write the size of a resource's scale sub-resource."""
        _check(self._leads)
        await self._cluster.write_scale(namespace, name, replicas)

    async def start(self, pod: Mapping[str, Any]) -> None:
        """Create a pod."""
        _check(self._leads)
        await self._cluster.start(pod)

    async def stop(self, namespace: str, name: str, uid: str) -> None:
        """Delete a pod, unless another one has its name by now."""
        _check(self._leads)
        await self._cluster.stop(namespace, name, uid)

    async def tell(self, body: Mapping[str, Any], kind: str, reason: str, message: str) -> None:
        """Write an event of a resource."""
        _check(self._leads)
        await self._cluster.tell(body, kind, reason, message)


class FencedAgents:
    """Agents that accept orders only while ``leads`` is true; reports are always available."""

    def __init__(self, agents: Agents, leads: Callable[[], bool]) -> None:
        self._agents, self._leads = agents, leads

    async def ask(self, address: str) -> Report:
        """Return what an agent reports."""
        return await self._agents.ask(address)

    async def direct(self, address: str, sizing: Sizing) -> Report:
        """Set how an agent sizes its application."""
        _check(self._leads)
        return await self._agents.direct(address, sizing)

    async def drain(self, address: str) -> Report:
        """Order an agent to drain its queries."""
        _check(self._leads)
        return await self._agents.drain(address)


def _check(leads: Callable[[], bool]) -> None:
    if not leads():
        raise NotLeading("another operator leads")
