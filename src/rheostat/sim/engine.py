"""Runs the production loop on a simulated plant, with a clock and a queue of events."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rheostat.errors import BadInput
from rheostat.guards import Guard
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import Memory, Record
from rheostat.ports import Journal, Policy
from rheostat.sim.plant import Ledger, Plant


@dataclass(frozen=True, slots=True)
class Run:
    """A simulated run, with its ticks unless the caller's journal recorded them."""

    ledger: Ledger
    records: tuple[Record, ...]


class NoJournal:
    """A journal that stores nothing, for runs that need only the ledger."""

    def restore(self) -> Memory:
        """Return no memory."""
        return {}

    def append(self, record: Record, memory: Memory) -> None:
        """Discard the record and the memory."""

    def halted(self) -> str:
        """Return an empty text: it is never halted."""
        return ""


def simulate(
    plant: Plant,
    policy: Policy,
    guards: tuple[Guard, ...],
    *,
    until_s: float,
    interval_s: float,
    start_s: float = 0.0,
    journal: Journal | None = None,
) -> Run:
    """Run the production loop on a plant, with a tick every ``interval_s`` seconds from ``start_s``
    to ``until_s``.

    The run is deterministic by seed. Without a ``journal`` the result contains the records. Raises
    BadInput unless the interval and the length are positive and finite.
    """
    if not (math.isfinite(interval_s) and interval_s > 0):
        raise BadInput(
            f"the interval between two decisions must be above 0 seconds, but it is {interval_s}"
        )
    if not (math.isfinite(until_s) and until_s > start_s):
        raise BadInput(
            f"a simulation must end after it starts ({start_s:g} s), but it ends at {until_s}"
        )
    kept = MemoryJournal()
    loop = Loop(sensor=plant, policy=policy, guards=guards, actuator=plant, journal=journal or kept)
    # Multiply the tick number, because adding the interval would accumulate rounding errors.
    for tick in range(math.ceil((until_s - start_s) / interval_s)):
        now = start_s + tick * interval_s
        plant.advance(now)
        loop.step(now)
    # Let the last decision take effect, and cost, until the end.
    plant.advance(until_s)
    return Run(ledger=plant.ledger(), records=tuple(kept.records))


Action: TypeAlias = Callable[[float], None]
"""Called with the event's time."""


class Events:
    """The events of a simulation; ``now`` is the current time in seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, Action]] = []
        self._planned = 0

    def at(self, t_s: float, action: Action) -> None:
        """Schedule an action; one in the past runs at the current time."""
        # The number breaks ties, so that events at the same time never compare their actions.
        self._planned += 1
        # Time never goes back: a past event would show an earlier clock to later ones.
        heapq.heappush(self._heap, (max(t_s, self.now), self._planned, action))

    def run(self, until_s: float) -> None:
        """Run all events due up to ``until_s``, including new ones, and advance the clock."""
        heap = self._heap
        while heap and heap[0][0] <= until_s:
            self.now, _, action = heapq.heappop(heap)
            action(self.now)
        self.now = max(self.now, until_s)

    def run_next(self) -> bool:
        """Run the next event and all others at its time; return False if there is none."""
        if not self._heap:
            return False
        self.run(self._heap[0][0])
        return True
