"""The running queries of a session, as the rescale controller needs them: their last batch, whether
they rest, and their state stores.
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
"""Trigger intervals without a batch."""


class Streams(BatchTimes, Protocol):
    """The calls of the JVM that concern queries."""

    def last_batches(self, queries: Mapping[str, Any]) -> dict[str, int]:
        """Return the number of the last finished batch of each query, -1 for none; cheap."""
        ...

    def state_folder(self, query: Any) -> str | None:
        """Return where a query's state is."""
        ...


class RunningQueries:
    """Looks at a session's queries by their run id; ``refresh`` finds new ones and forgets those
    that have ended.

    ``rhythms`` are those that others take, too; without them it keeps its own.
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
        """Return the run ids of the queries that run now."""
        self._queries = {str(query.runId): query for query in self._spark.streams.active}
        self._rhythms.keep(self._queries.keys())
        return self._queries.keys()

    def batches(self) -> dict[str, int]:
        """Return the number of each query's last finished batch, -1 for none."""
        return self._streams.last_batches(self._queries)

    def idle(self, run_id: str, quiet_s: float) -> bool:
        """Tell whether a query is at rest: it runs no batch, and ``quiet_s`` after the last one is
        not just the wait for its trigger.
        """
        # The trigger first, which is known here: the status is a call into the JVM.
        return quiet_s > _AT_REST * self.rhythm(run_id).trigger_s and not runs_batch(
            self._queries[run_id].status
        )

    def rhythm(self, run_id: str) -> Rhythm:
        """Return when a query runs batches and when it pauses."""
        return self._rhythms.of(self._queries[run_id])

    def moves(self, run_id: str) -> None:
        """Note that a query's next batch loads state that moves."""
        self._rhythms.moves(run_id)

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]] | None:
        """Return where a query's state is and its stateful operators; None without state, or before
        its first batch.
        """
        # A plan never changes within a run, so one look at a batch without state is enough.
        if run_id in self._stateless:
            return None
        query = self._queries[run_id]
        progress = query.lastProgress
        # The state folder is there before, but not yet the metadata of the operators in it.
        if progress is None:
            return None
        read = progress if isinstance(progress, dict) else json.loads(progress.json)
        if not read["stateOperators"]:
            if "addBatch" in read["durationMs"]:  # it has run a batch: its plan is known
                self._stateless.add(run_id)
            return None
        folder = self._streams.state_folder(query)
        return None if folder is None else (folder, operators(self._files, folder, read))
