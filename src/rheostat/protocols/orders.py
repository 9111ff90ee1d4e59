"""The orders of the rescale protocol; the engine's package carries them out.

Every order is idempotent: it describes the desired state, not an action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rheostat.state.assignment import Unit


@dataclass(frozen=True, slots=True)
class Request:
    """Request ``total`` executors from the cluster; leaving ones are not counted."""

    total: int


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Start to warm an executor; the facts show when it is warm."""

    executor: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Send units to executors, right after a batch has ended."""

    units: Mapping[Unit, str]


@dataclass(frozen=True, slots=True)
class Hide:
    """Exclude executors from the preferences of sources; this is irreversible."""

    executors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decommission:
    """Decommission executors: they finish their tasks and end."""

    executors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill executors that were asked to leave and did not."""

    executors: tuple[str, ...]


Order: TypeAlias = Request | WarmUp | Assign | Hide | Decommission | Kill


def harmless(orders: Sequence[Order]) -> tuple[Order, ...]:
    """Return the orders that are allowed before a size is decided: those that neither request nor
    remove executors.
    """
    changes_size = (Request, Hide, Decommission, Kill)
    return tuple(order for order in orders if not isinstance(order, changes_size))
