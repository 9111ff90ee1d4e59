"""What ``predictive`` remembers between two decisions: one frozen value, kept as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from rheostat.model import Memory

VERSION = 2
"""Raised when a field changes its meaning: the memory of another version is dropped."""

Estimate: TypeAlias = Mapping[str, Any]
"""What an estimator of ``signals`` or ``capacity`` keeps: JSON values only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that one decision leaves to the next."""

    version: int = VERSION
    newest_s: float | None = None
    """Time of the last observation."""

    tick_s: float = 5.0
    """Mean time between two decisions."""

    # Arrival rates.
    rates: Estimate = field(default_factory=dict)
    rate_before: float | None = None
    fits: Estimate = field(default_factory=dict)
    turn: int = 0
    """Place of the horizon that is fitted next; after the last one the period is detected."""

    period_s: float | None = None
    unknown_share: float = 1.0
    """Share of the behaviour of the load that has not been observed yet."""

    bound_rows_per_s: float | None = None
    """The rate that was expected to be exceeded once in ten times until this decision."""

    # Micro-batches.
    batches: Estimate = field(default_factory=dict)
    batch_s: float | None = None
    batch_rows: int | None = None
    reading: Sequence[Sequence[Any]] = ()
    """The stages of the last batch, by which repeated ones are recognised."""

    excess_s: float = 0.0
    """How much longer than predicted the last batch took."""

    is_outlier: bool = False
    rows_limit: int | None = None
    began_s: float | None = None
    running_on: int = 1
    """Executors on which the running batch began."""

    # Late rows: totals that decay by e within an hour, and within five minutes.
    hour_rows: float = 0.0
    hour_late_rows: float = 0.0
    window_rows: float = 0.0
    window_late_rows: float = 0.0

    # Sizes.
    rescale: Estimate = field(default_factory=dict)
    executors: int | None = None
    first_size: int | None = None
    ceiling: int | None = None
    changed_s: float | None = None
    is_cold: bool = False
    size_before: int | None = None
    target_before: int | None = None
    throughput: Estimate = field(default_factory=dict)
    """Memory of ``measured-throughput``, which decides until the batch model is valid."""

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values; estimates are not copied."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_json(cls, memory: Memory) -> State:
        """Return the state of a memory, and an empty one for that of another version."""
        if not is_current(memory):
            return cls(newest_s=memory.get("newest_s"))
        known = {item.name for item in fields(cls)}
        return cls(**{name: value for name, value in memory.items() if name in known})


def is_current(memory: Memory) -> bool:
    """Tell whether a memory can be used: it is new, or of this version."""
    return not memory or memory.get("version") == VERSION
