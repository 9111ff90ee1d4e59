"""The state of ``predictive`` between two decisions: one frozen value, stored as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from rheostat.capacity.identify import Batches
from rheostat.capacity.rescale_cost import RescaleCost
from rheostat.model import Memory
from rheostat.signals.forecasts.forecast import NO_FITS, Fits
from rheostat.signals.forecasts.rate_history import RateHistory

VERSION = 6
"""Increased when a field changes its meaning; the memory of another version is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentRows:
    """Rows and late rows, of which older ones count less."""

    rows: float = 0.0
    late_rows: float = 0.0

    @property
    def late_share(self) -> float:
        """Late rows over all rows; 0 before the first row."""
        return self.late_rows / self.rows if self.rows > 0 else 0.0

    def with_rows(self, rows: float, late_rows: float, keep: float) -> RecentRows:
        """Return the share ``keep`` of these rows with further ones."""
        return RecentRows(rows=keep * self.rows + rows, late_rows=keep * self.late_rows + late_rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that a decision passes on to the next one."""

    version: int = VERSION
    newest_s: float | None = None
    """Time of the last observation."""

    tick_s: float = 5.0
    """Mean time between two decisions."""

    # Arrival rates.
    rates: RateHistory = field(default_factory=RateHistory)
    fits: Fits = NO_FITS
    turn: int = 0
    """Index of the horizon that is fitted next; after the last one the period is detected."""

    period_s: float | None = None
    # Micro-batches.
    batches: Batches = field(default_factory=Batches)
    batch_s: float | None = None
    batch_rows: int | None = None
    reading: Sequence[Sequence[Any]] = ()
    """The stages of the last batch, to recognise a repeated reading."""

    rows_limit: int | None = None
    # Rows that decay by e within an hour, and within five minutes.
    hour: RecentRows = field(default_factory=RecentRows)
    window: RecentRows = field(default_factory=RecentRows)

    # Sizes.
    rescale: RescaleCost = field(default_factory=RescaleCost)
    first_size: int | None = None
    ceiling: int | None = None
    changed_s: float | None = None
    is_cold: bool = False
    target_before: int | None = None
    throughput: Memory = field(default_factory=dict)
    """Memory of ``measured-throughput``, which decides until the batch model is valid."""

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values; lists are not copied."""
        return {item.name: _as_json(getattr(self, item.name)) for item in fields(self)}

    @classmethod
    def from_json(cls, memory: Memory) -> State:
        """Return the state of a memory, and an empty one for that of another version."""
        if not is_current(memory):
            return cls(newest_s=memory.get("newest_s"))
        state: State = _restored(cls(), memory)
        return state


def is_current(memory: Memory) -> bool:
    """Return whether a memory is empty or of this version."""
    return not memory or memory.get("version") == VERSION


def _as_json(value: Any) -> Any:
    if not is_dataclass(value):
        return value
    return {item.name: _as_json(getattr(value, item.name)) for item in fields(value)}


def _restored(default: Any, value: Any) -> Any:
    """Return ``value`` as the dataclass of ``default``; fields of other names are ignored."""
    if not is_dataclass(default) or isinstance(default, type):
        return value
    known = {item.name: getattr(default, item.name) for item in fields(default)}
    parts = {name: _restored(known[name], part) for name, part in value.items() if name in known}
    return replace(default, **parts)
