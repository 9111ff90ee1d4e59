"""The rhythm of each running query, updated once per batch and shared by the rescale controller,
the warm-up and the preload.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from rheostat.signals.rhythm import REMEMBERED, BatchTime, Rhythm


class BatchTimes(Protocol):
    """The JVM calls that return when a query runs batches."""

    def last_batch(self, query: Any) -> int:
        """Return the number of the last finished batch, -1 without one; cheap."""
        ...

    def batch_times(self, query: Any, most: int) -> Sequence[BatchTime]:
        """Return the last ``most`` finished batches at most, oldest first."""
        ...

    def pauses_after(self, query: Any) -> int | None:
        """Return the number of the batch after which a query pauses; None while a batch runs."""
        ...

    def trigger_s(self, query: Any) -> float | None:
        """Return a query's trigger interval in seconds; None if it is unknown."""
        ...


class Rhythms:
    """Keeps the rhythm of every run of a query; safe to call from several threads."""

    def __init__(self, times: BatchTimes) -> None:
        self._times = times
        self._lock = threading.Lock()
        self._known: dict[str, Rhythm] = {}
        self._moving: set[str] = set()
        """The runs whose next batch loads moved state."""

    def of(self, query: Any) -> Rhythm:
        """Return the rhythm of a query, including the batches that ended since the last call."""
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
        """Return the seconds from ``now`` (Unix seconds) until the query's next batch; 0 while one
        runs.
        """
        after = self._times.pauses_after(query)
        if after is None:
            return 0.0
        rhythm = self.of(query)
        # Both values must refer to the same batch: another may have ended between the calls.
        return rhythm.pause_left_s(now) if rhythm.last and rhythm.last.number == after else 0.0

    def moves(self, run_id: str) -> None:
        """Record that the next batch of a run loads moved state and is therefore unusual."""
        with self._lock:
            self._moving.add(run_id)

    def keep(self, running: Collection[str]) -> None:
        """Forget the runs that are not in ``running``."""
        with self._lock:
            self._moving &= set(running)
            self._known = {run: known for run, known in self._known.items() if run in running}

    def _new(self, query: Any, newest: int) -> list[BatchTime]:
        missed = self._times.last_batch(query) - newest
        if missed <= 0:
            return []
        # Older batches are outside both windows of the rhythm.
        read = self._times.batch_times(query, min(REMEMBERED, missed))
        return [batch for batch in read if batch.number > newest]
