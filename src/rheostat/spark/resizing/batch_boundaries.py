"""Batch boundaries: the only moments at which state can be sent somewhere, and after which it can
be checked.

A state task that is planned already reports its own executor when it opens its store, and so
overwrites what was said in the middle of a batch. So an assignment is made right after a batch of
its query has ended, and checked after the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

FRESH_S = 0.3
"""A boundary that may be longer ago than this is none: the next batch may have been planned
already."""

IDLE_S = 1.0
"""A query in which no batch has run for so long may be at rest; it is asked so often."""


@dataclass(slots=True)
class _Beat:
    batch: int
    since_s: float
    checked_s: float
    needed: int = 1
    """Boundaries that this query must still pass before the round is over."""


class BatchBoundaryTracker:
    """Counts rounds: a round is over when every running query has passed a boundary, and two if it
    had to wait for its assignment.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        """How many rounds are over; None while no query runs."""
        self._beats: dict[str, _Beat] = {}
        self._looked_s = float("-inf")

    def see(
        self, batches: dict[str, int], idle: Callable[[str, float], bool], now: float
    ) -> Collection[str]:
        """Take the last finished batch of every running query, and return the queries that are at a
        boundary now.

        ``idle`` tells of a query, and of the seconds since its last boundary, whether it is at
        rest: that is a boundary too. It is asked once a second.
        """
        for run_id in self._beats.keys() - batches.keys():
            del self._beats[run_id]
        fresh, self._looked_s = now - self._looked_s <= FRESH_S, now
        # Without a query there are no batches to count by, and the protocol goes by the clock.
        self.number = (self.number or 0) if batches else None
        passed = [
            run_id
            for run_id, batch in batches.items()
            if self._passes(run_id, batch, idle, fresh, now)
        ]
        # A round waits for the slowest query: what was sent to it shows only after its own next
        # batch.
        if passed and not any(beat.needed for beat in self._beats.values()):
            self.number = (self.number or 0) + 1
            for beat in self._beats.values():
                beat.needed = 1
        return passed

    def postpone(self, run_id: str) -> None:
        """Note that this query's assignment waits for its next boundary: only the one after that
        tells what came of it.
        """
        if run_id in self._beats:
            self._beats[run_id].needed = 2

    def _passes(
        self, run_id: str, batch: int, idle: Callable[[str, float], bool], fresh: bool, now: float
    ) -> bool:
        beat = self._beats.get(run_id)
        if beat is None:
            # The batch that is seen first may have ended long ago, so this is no boundary yet.
            self._beats[run_id] = _Beat(batch, now, now)
            return False
        if not fresh:
            # After too long a pause between two looks, nobody knows how old the end of this batch
            # is.
            beat.batch, beat.since_s = batch, now
            return False
        if batch == beat.batch:
            # Whether a query rests is asked of Spark's JVM: too dear for every look at a batch.
            if now - max(beat.since_s, beat.checked_s) < IDLE_S:
                return False
            beat.checked_s = now
            if not idle(run_id, now - beat.since_s):
                return False
        # A quick query passes several boundaries in one round of a slow one, so its need stops at
        # 0.
        beat.batch, beat.since_s, beat.needed = batch, now, max(0, beat.needed - 1)
        return True
