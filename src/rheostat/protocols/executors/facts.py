"""The facts of a step: everything that the rescale protocol knows about the application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rheostat.state.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The executors and the places of the state at ``now_s`` (any clock in seconds that a restart
    of the controller continues).
    """

    now_s: float
    registered: tuple[str, ...]
    """Registered executors, oldest first; those that leave are among them until their process is
    gone."""

    holders: Mapping[Unit, str | None] = field(default_factory=dict)
    """The executor of every state partition of every running query; None: unknown, or its stores
    lie on several."""

    weights: Mapping[Unit, float] | None = None
    """Rows or bytes of each unit; None: all count the same."""

    ranges: bool = False
    """Whether each executor is to have a contiguous range of every query's partitions."""

    nodes: Mapping[str, str] = field(default_factory=dict)
    """The node of each executor, where that is to count when one is chosen to leave."""

    warm: frozenset[str] = frozenset()
    """Executors whose warm-up has ended."""
    warmable: bool = False
    """Whether executors can be warmed before they get state."""

    batch: int | None = None
    """Grows by one at each batch boundary of the application: when each running query has ended a
    batch (or rests) since the last.

    None: no batch has been seen; then one second counts as a boundary.
    """
    slack_s: float | None = None
    """By how much a batch may last longer without missing the SLO."""
    load_s: float | None = None
    """How long it takes to load one unit."""

    in_pause: bool = False
    """Whether both are of the pauses between batches: state that moves is loaded there, and no
    batch lasts longer for it."""

    placing: bool = True
    """False: state is not placed (mode off, or it cannot be): every executor counts as ready
    and as empty at once."""

    slots_per_executor: int = 1
