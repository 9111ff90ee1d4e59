"""The rhythm of each running query, fed once per batch by whoever looks first: the rescale
controller, the warm-up and the preload take the same one.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from rheostat.signals.rhythm import REMEMBERED, BatchTime, Rhythm


class BatchTimes(Protocol):
    """The calls of the JVM that tell when a query runs batches."""

    def last_batch(self, query: Any) -> int:
        """Return the number of the last finished batch, -1 for none; cheap."""
        ...

    def batch_times(self, query: Any, most: int) -> Sequence[BatchTime]:
        """Return the last finished batches, at most so many, oldest first."""
        ...

    def pauses_after(self, query: Any) -> int | None:
        """Return the number of the batch after which a query pauses; None while it runs one."""
        ...

    def trigger_s(self, query: Any) -> float | None:
        """Return a query's trigger interval, None if it cannot be told."""
        ...


class Rhythms:
    """Keeps a rhythm for every run of a query; may be asked from several threads."""

    def __init__(self, times: BatchTimes) -> None:
        self._times = times
        self._lock = threading.Lock()
        self._known: dict[str, Rhythm] = {}
        self._moving: set[str] = set()
        """Runs whose next batch loads state that moves."""

    def of(self, query: Any) -> Rhythm:
        """Return the rhythm of a query; reads the batches that have ended since the last look."""
        run_id = str(query.runId)
        with self._lock:
            known = self._known.get(run_id) or Rhythm(trigger_s=self._times.trigger_s(query) or 0.0)
            for batch in self._new(query, known.last.number if known.last else -1):
                known = known.after(batch, moved=run_id in self._moving)
                # Only the first batch after a move loads the state.
                self._moving.discard(run_id)
            self._known[run_id] = known
            return known

    def pause_left_s(self, query: Any, now: float) -> float:
        """Return for how long a query will run no batch, from ``now`` in Unix seconds; 0 while it
        runs one.
        """
        after = self._times.pauses_after(query)
        if after is None:
            return 0.0
        rhythm = self.of(query)
        # Both must mean the same batch: another may have ended between the two questions.
        return rhythm.pause_left_s(now) if rhythm.last and rhythm.last.number == after else 0.0

    def moves(self, run_id: str) -> None:
        """Note that the next batch of a run loads state that moves: it is not a usual one."""
        with self._lock:
            self._moving.add(run_id)

    def keep(self, running: Collection[str]) -> None:
        """Forget the runs that have ended."""
        with self._lock:
            self._moving &= set(running)
            self._known = {run: known for run, known in self._known.items() if run in running}

    def _new(self, query: Any, newest: int) -> list[BatchTime]:
        missed = self._times.last_batch(query) - newest
        if missed <= 0:
            return []
        # More than these would not change the rhythm: older batches are out of both its windows.
        read = self._times.batch_times(query, min(REMEMBERED, missed))
        return [batch for batch in read if batch.number > newest]
