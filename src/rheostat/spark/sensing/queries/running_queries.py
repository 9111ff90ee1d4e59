"""The running queries of a session for the rescale controller: last batch, idle periods and state
stores.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from rheostat.signals.rhythm import Rhythm
from rheostat.spark.sensing.queries.in_flight import runs_batch
from rheostat.spark.sensing.queries.rhythms import BatchTimes, Rhythms
from rheostat.spark.sensing.queries.state_stores import Operator, operators
from rheostat.storage.file_system import FileSystem

_AT_REST = 1.5
"""A query without a batch for this many trigger intervals is at rest."""


class Streams(BatchTimes, Protocol):
    """The JVM calls about queries."""

    def last_batches(self, queries: Mapping[str, Any]) -> dict[str, int]:
        """Return the number of the last finished batch of each query, -1 without one; cheap."""
        ...

    def state_folder(self, query: Any) -> str | None:
        """Return the folder of a query's state."""
        ...


class RunningQueries:
    """The queries of a session by run id; ``refresh`` adds new ones and forgets those that have
    ended.

    ``rhythms`` are shared with other components; by default the object keeps its own.
    """

    def __init__(
        self, spark: Any, streams: Streams, files: FileSystem, rhythms: Rhythms | None = None
    ) -> None:
        self._spark = spark
        self._streams = streams
        self._files = files
        self._rhythms = rhythms or Rhythms(streams)
        self._queries: dict[str, Any] = {}
        self._stateless: set[str] = set()

    def refresh(self) -> Collection[str]:
        """Return the run ids of the running queries."""
        self._queries = {str(query.runId): query for query in self._spark.streams.active}
        self._rhythms.keep(self._queries.keys())
        return self._queries.keys()

    def batches(self) -> dict[str, int]:
        """Return the number of each query's last finished batch, -1 without one."""
        return self._streams.last_batches(self._queries)

    def idle(self, run_id: str, quiet_s: float) -> bool:
        """Return whether a query is at rest: no batch runs, and ``quiet_s`` seconds since the last
        one exceed the wait for its trigger.
        """
        # The rhythm is checked first because the status is a call into the JVM.
        return quiet_s > _AT_REST * self.rhythm(run_id).trigger_s and not runs_batch(
            self._queries[run_id].status
        )

    def rhythm(self, run_id: str) -> Rhythm:
        """Return when a query runs batches and when it pauses."""
        return self._rhythms.of(self._queries[run_id])

    def moves(self, run_id: str) -> None:
        """Record that a query's next batch loads moved state."""
        self._rhythms.moves(run_id)

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]] | None:
        """Return the folder of a query's state and its stateful operators; None for a stateless
        query and before the first batch.
        """
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
        folder = self._streams.state_folder(query)
        return None if folder is None else (folder, operators(self._files, folder, read))
