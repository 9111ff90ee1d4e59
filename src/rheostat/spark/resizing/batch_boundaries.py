"""Detects batch boundaries, the only moments at which state can be assigned.

A stateful task that is already planned reports its own executor when it opens its store, and
thereby overwrites an assignment made during a batch. So an assignment is made right after a batch
of its query has ended, and verified after the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

FRESH_S = 0.3
"""A boundary that may be older than this is ignored: the next batch may already be planned."""

IDLE_S = 1.0
"""A query without a batch for this long may be at rest; this is checked at the same interval."""


@dataclass(slots=True)
class _Beat:
    batch: int
    since_s: float
    checked_s: float
    needed: int = 1
    """The boundaries that this query must still pass before the round ends."""


class BatchBoundaryTracker:
    """Counts rounds, which end when every query has passed one boundary (postponed: two)."""

    def __init__(self) -> None:
        self.number: int | None = None
        """The number of completed rounds; None while no query runs."""
        self._beats: dict[str, _Beat] = {}
        self._polled_s = float("-inf")

    def update(
        self, batches: dict[str, int], idle: Callable[[str, float], bool], now: float
    ) -> Collection[str]:
        """Take the last finished batch of every running query, and return the queries that are at a
        boundary now.

        ``idle`` returns whether a query is at rest, from the seconds since its last boundary; rest
        counts as a boundary. It is called at most once per second and query.
        """
        for run_id in self._beats.keys() - batches.keys():
            del self._beats[run_id]
        fresh, self._polled_s = now - self._polled_s <= FRESH_S, now
        # Without a query there are no batches to count, and the protocol uses the clock.
        self.number = (self.number or 0) if batches else None
        passed = [
            run_id
            for run_id, batch in batches.items()
            if self._passes(run_id, batch, idle, fresh, now)
        ]
        # A round waits for the slowest query: an assignment shows only after its next batch.
        if passed and not any(beat.needed for beat in self._beats.values()):
            self.number = (self.number or 0) + 1
            for beat in self._beats.values():
                beat.needed = 1
        return passed

    def postpone(self, run_id: str) -> None:
        """Record that an assignment waits for its next boundary and shows at the one after."""
        if run_id in self._beats:
            self._beats[run_id].needed = 2

    def _passes(
        self, run_id: str, batch: int, idle: Callable[[str, float], bool], fresh: bool, now: float
    ) -> bool:
        beat = self._beats.get(run_id)
        if beat is None:
            # The first observed batch may have ended long ago, so this is not a boundary yet.
            self._beats[run_id] = _Beat(batch, now, now)
            return False
        if not fresh:
            # After a long pause between two observations the age of this batch's end is unknown.
            beat.batch, beat.since_s = batch, now
            return False
        if batch == beat.batch:
            # The check is a call into Spark's JVM, which is too expensive for every observation.
            if now - max(beat.since_s, beat.checked_s) < IDLE_S:
                return False
            beat.checked_s = now
            if not idle(run_id, now - beat.since_s):
                return False
        # A fast query passes several boundaries in a round, so the count stops at 0.
        beat.batch, beat.since_s, beat.needed = batch, now, max(0, beat.needed - 1)
        return True
