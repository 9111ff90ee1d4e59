"""The running queries of a session, and for how long it runs nothing; and the rhythm of each query,
updated once per batch and shared by the rescale controller, the warm-up and the preload.
"""

from __future__ import annotations

import json
import logging
import math
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from rheostat.protocols.release import LONG_TRIGGER_S
from rheostat.signals.rhythm import REMEMBERED, BatchTime, Rhythm
from rheostat.spark.internals.stream_executions import Queries
from rheostat.spark.sensing.progress import runs_batch
from rheostat.spark.sensing.state_stores import Operator, operators
from rheostat.storage.file_system import FileSystem, moves_in_one_step

_log = logging.getLogger("rheostat")
_NO_SOAK = (
    "rheostat: state stays where Spark has put it: moves of state have not passed a soak on the"
    " object store of %s; placement='force' moves it nevertheless"
)


class Rhythms:
    """Keeps the rhythm of every run of a query; safe to call from several threads."""

    def __init__(self, streams: Queries) -> None:
        self._streams = streams
        self._lock = threading.Lock()
        self._known: dict[str, Rhythm] = {}
        self._moving: set[str] = set()
        """The runs whose next batch loads moved state."""

    def of(self, query: Any) -> Rhythm:
        """Return the rhythm of a query, including the batches that ended since the last call."""
        run_id = str(query.runId)
        with self._lock:
            known = self._known.get(run_id) or Rhythm(
                trigger_s=self._streams.trigger_s(query) or 0.0
            )
            for batch in self._new(query, known.last.number if known.last else -1):
                known = known.after(batch, moved=run_id in self._moving)
                # Only the first batch after a move loads the state.
                self._moving.discard(run_id)
            self._known[run_id] = known
            return known

    def pause_left_s(self, query: Any, now: float) -> float:
        """Return the seconds from ``now`` (Unix) to a query's next batch; 0 during one."""
        after = self._streams.pauses_after(query)
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
        missed = self._streams.last_batch(query) - newest
        if missed <= 0:
            return []
        # Older batches are outside both windows of the rhythm.
        read = self._streams.batch_times(query, min(REMEMBERED, missed))
        return [batch for batch in read if batch.number > newest]


_AT_REST = 1.5
"""A query without a batch for this many trigger intervals is at rest."""


@dataclass(eq=False)
class RunningQueries:
    """The queries of a session by run id; ``refresh`` adds new ones and forgets those that have
    ended.

    ``rhythms`` are shared with other components. Without ``on_object_stores``, queries whose
    checkpoint is on an object store count as stateless; without ``loads_on_object_stores``, only
    their batches load state.
    """

    spark: Any
    streams: Queries
    files: FileSystem
    rhythms: Rhythms
    on_object_stores: bool = True
    loads_on_object_stores: bool = True

    def __post_init__(self) -> None:
        self._queries: dict[str, Any] = {}
        self._stateless: set[str] = set()

    def refresh(self) -> Collection[str]:
        """Return the run ids of the running queries."""
        self._queries = {str(query.runId): query for query in self.spark.streams.active}
        self.rhythms.keep(self._queries.keys())
        return self._queries.keys()

    def batches(self) -> dict[str, int]:
        """Return the number of each query's last finished batch, -1 without one."""
        return self.streams.last_batches(self._queries)

    def idle(self, run_id: str, quiet_s: float) -> bool:
        """Return whether no batch runs and ``quiet_s`` exceeds the wait for the trigger."""
        # The rhythm is checked first because the status is a call into the JVM.
        return quiet_s > _AT_REST * self.rhythm(run_id).trigger_s and not runs_batch(
            self._queries[run_id].status
        )

    def rhythm(self, run_id: str) -> Rhythm:
        """Return when a query runs batches and when it pauses."""
        return self.rhythms.of(self._queries[run_id])

    def moves(self, run_id: str) -> None:
        """Record that a query's next batch loads moved state."""
        self.rhythms.moves(run_id)

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]] | None:
        """Return a query's state folder and stateful operators; None before any is known."""
        # A plan never changes within a run, so one batch without state is sufficient evidence.
        if run_id in self._stateless:
            return None
        query = self._queries[run_id]
        progress = query.lastProgress
        # Before the first progress the state folder may exist without its operators' metadata.
        if progress is None:
            return None
        read = progress if isinstance(progress, dict) else json.loads(progress.json)
        if not read["stateOperators"]:
            if "addBatch" in read["durationMs"]:  # it ran a batch, so its plan is known
                self._stateless.add(run_id)
            return None
        folder = self.streams.state_folder(query)
        if folder is None:
            return None
        if not (self.on_object_stores or moves_in_one_step(folder)):
            self._stateless.add(run_id)
            _log.warning(_NO_SOAK, folder)
            return None
        return folder, operators(self.files, folder, read)

    def loadable(self) -> list[Any]:
        """Return the active queries whose state may be loaded before a batch, without
        ``refresh``.
        """
        return [query for query in self.spark.streams.active if self._may_load(query)]

    def _may_load(self, query: Any) -> bool:
        folder = self.streams.state_folder(query)
        return self.loads_on_object_stores or folder is None or moves_in_one_step(folder)


class QuietTime:
    """Returns the seconds until something is due: the next batch of a query, or a running job.

    A query that never pauses for long is logged once: it keeps its executors.
    """

    def __init__(self, spark: Any, streams: Queries) -> None:
        self._spark = spark
        self._streams = streams
        self._rhythms = Rhythms(streams)
        self._logged: set[str] = set()

    def __call__(self, now: float) -> float:
        """Return 0 while a job or a batch runs, and infinity without a query."""
        active = {str(query.runId): query for query in self._spark.streams.active}
        self._rhythms.keep(active)
        for run_id in active.keys() - self._logged:
            self._logged.add(run_id)
            if line := continuous_line(active[run_id], self._streams):
                _log.warning("rheostat: %s", line)
        # Jobs that are no query's, too: without executors they would wait forever.
        if self._spark.sparkContext.statusTracker().getActiveJobsIds():
            return 0.0
        pauses_s = (self._rhythms.pause_left_s(query, now) for query in active.values())
        return min(pauses_s, default=math.inf)


def continuous_line(query: Any, streams: Queries) -> str | None:
    """Return why a query keeps its executors although ``min`` is 0; None if it pauses for long."""
    interval_s, real_time_s = streams.trigger_s(query), streams.real_time_s(query)
    if real_time_s is None and (interval_s is None or interval_s >= LONG_TRIGGER_S):
        return None
    how = "real-time mode" if real_time_s is not None else f"trigger interval {interval_s:g} s"
    return (
        f"min executors is 0, but query {query.name or query.id} runs continuously ({how}) and"
        f" keeps at least 1; use min 1, trigger(availableNow=True) or an interval of at least"
        f" {LONG_TRIGGER_S:g} s"
    )
