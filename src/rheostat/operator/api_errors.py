"""The endpoint of a driver's control API, and the errors of both APIs that the operator calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The control API of a driver: its address, its own token (None: the operator's), and with
    ``ca`` (PEM) TLS, for which its certificate must be valid for ``name``.
    """

    address: str
    token: str | None = field(default=None, repr=False)
    ca: str | None = field(default=None, repr=False)
    name: str = ""


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
