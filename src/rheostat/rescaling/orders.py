"""What the protocol of a change of size asks for; carried out by the room that knows the engine.

Every order may be given again: it says what should be so, not what should happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rheostat.state.units import Unit


@dataclass(frozen=True, slots=True)
class Request:
    """Ask the cluster for ``total`` executors in all; those that leave are not counted."""

    total: int


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Begin to warm an executor; the facts tell when it is warm."""

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
