"""The operator's ports: the Kubernetes API, and the control APIs of drivers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The control API of a driver: its address, its own token (None: the operator's), and with
    ``ca`` (PEM) TLS, for which its certificate must be valid for ``name``.
    """

    address: str
    token: str | None = field(default=None, repr=False)
    ca: str | None = field(default=None, repr=False)
    name: str = ""


class Cluster(Protocol):
    """The Kubernetes API; an object that exists already, or not any more, is not an error."""

    async def write_status(self, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Merge ``status`` into the status of a resource."""

    async def write_scale(self, namespace: str, name: str, replicas: int) -> None:
        """Write the size to a resource's scale sub-resource."""

    async def secret(self, namespace: str, name: str) -> Mapping[str, str]:
        """Return the values of a Secret as text; raises ``ApiError`` if it cannot be read."""

    async def start(self, pod: Mapping[str, Any]) -> None:
        """Create a pod."""

    async def stop(self, namespace: str, name: str, uid: str) -> None:
        """Delete a pod unless a different pod has its name by now."""

    async def tell(self, body: Mapping[str, Any], kind: str, reason: str, message: str) -> None:
        """Write an event about a resource; ``kind`` is Normal or Warning."""


class ControlApis(Protocol):
    """The control APIs of drivers; raises ``ApiError`` for an invalid or missing answer."""

    async def ask(self, endpoint: Endpoint) -> Report:
        """Return the report of a driver."""

    async def direct(self, endpoint: Endpoint, sizing: Sizing) -> Report:
        """Send a driver the sizing of its application."""

    async def drain(self, endpoint: Endpoint) -> Report:
        """Request that a driver drains its queries."""


class ApiError(Exception):
    """A control API did not answer, or refused; ``reason`` is that of the condition."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class NotLeading(Exception):
    """Another operator leads; the request was not sent."""


def require_lead(leads: Callable[[], bool]) -> None:
    """Raise NotLeading before a write of an operator that no longer leads, as after a pause."""
    if not leads():
        raise NotLeading("another operator leads")
