"""The orders of the rescale protocol; the package of the engine carries them out.

Every order is idempotent: it states what should be so, not what should happen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rheostat.state.assignment import Unit


@dataclass(frozen=True, slots=True)
class Request:
    """Ask the cluster for ``total`` executors in all; those that leave are not counted."""

    total: int


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Begin to warm an executor; the facts show when it is warm."""

    executor: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Send units to executors, right after a batch has ended."""

    units: Mapping[Unit, str]


@dataclass(frozen=True, slots=True)
class Hide:
    """Take executors out of what sources prefer; there is no way back."""

    executors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decommission:
    """Let executors end their tasks and leave."""

    executors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kill:
    """End executors that were asked to leave and did not."""

    executors: tuple[str, ...]


Order: TypeAlias = Request | WarmUp | Assign | Hide | Decommission | Kill


def harmless(orders: Sequence[Order]) -> tuple[Order, ...]:
    """Return the orders that may be given before a size is decided: those that neither request
    executors nor let one go.
    """
    changes_size = (Request, Hide, Decommission, Kill)
    return tuple(order for order in orders if not isinstance(order, changes_size))
