"""What the operator needs of the world: the cluster's API, and the agents of drivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing


class Cluster(Protocol):
    """The cluster's API; what is there already, or gone already, is no fault."""

    async def write_status(self, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Merge this into the status of a resource."""
        ...

    async def write_scale(self, namespace: str, name: str, replicas: int) -> None:
        """Write the size of a resource's scale sub-resource."""
        ...

    async def start(self, pod: Mapping[str, Any]) -> None:
        """Create a pod."""
        ...

    async def stop(self, namespace: str, name: str, uid: str) -> None:
        """Delete a pod, unless another one has its name by now."""
        ...

    async def tell(self, body: Mapping[str, Any], kind: str, reason: str, message: str) -> None:
        """Write an event of a resource: ``kind`` is Normal or Warning."""
        ...


class Agents(Protocol):
    """The agents of drivers; raises ``Silent`` where one does not answer as it should."""

    async def ask(self, address: str) -> Report:
        """Return what an agent reports."""
        ...

    async def direct(self, address: str, sizing: Sizing) -> Report:
        """Set how an agent sizes its application."""
        ...

    async def drain(self, address: str) -> Report:
        """Order an agent to drain its queries."""
        ...


class Silent(Exception):
    """An agent did not answer, or refused; ``reason`` is that of the condition."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
