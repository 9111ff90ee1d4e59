"""The port of backlog readers: how much of a source lies between two of its offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Unit: TypeAlias = Literal["rows", "bytes", "files", "offsets"]
"""What a source counts; everything but rows is converted by the rows per unit of past batches."""

Source: TypeAlias = Mapping[str, Any]
"""The entry of a source in a progress event; its offsets are parsed."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A part of a source: a number, 0 or above, of ``unit``."""

    value: float
    unit: Unit


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a source holds that no finished batch has read, as it was at ``t_s`` (Unix time).

    ``amount`` is None where only the age of the oldest row is known (``wait_s``, in seconds).
    """

    t_s: float
    amount: Amount | None
    wait_s: float | None = None


class BacklogReader(Protocol):
    """Counts one source of one query; an unknown amount is None, never 0.

    Methods may raise ``OSError``, ``ValueError`` or ``LookupError``, with one line as the message:
    the backlog is then absent, and the line is logged once.
    """

    def backlog(self, source: Source, now: float) -> Backlog | None:
        """Return the backlog after the last finished batch.

        ``source`` is that batch's entry, ``now`` the time of the tick (Unix time). One listing or
        one look for new log entries per call at most.
        """

    def between(self, start: Any, end: Any) -> Amount | None:
        """Return what lies after the offset ``start`` up to and including ``end``."""

    def close(self) -> None:
        """Close connections, if there are any."""
        return
