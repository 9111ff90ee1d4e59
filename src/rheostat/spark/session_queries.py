"""The queries of a session, and their draining: each stops after its batch."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any, Protocol

from rheostat.spark.sensing.in_flight import runs_batch

DRAIN_LIMIT_S = 120.0
_POLL_S = 0.05


class Streams(Protocol):
    """The JVM calls about queries."""

    def last_batch(self, query: Any) -> int:
        """Return the number of the last completed batch of a query, -1 for none."""

    def state_folder(self, query: Any) -> str | None:
        """Return the folder of a query's state."""

    def sink_folder(self, query: Any) -> str | None:
        """Return the folder that a query writes files to."""


class JobQueries(Protocol):
    """The running queries of a job."""

    def active(self) -> Collection[str]:
        """Return the run ids of the running queries."""

    def last_batch(self, run_id: str) -> int:
        """Return the number of a query's last completed batch, -1 for none."""

    def rests(self, run_id: str) -> bool:
        """Return whether a query runs no batch now."""

    def checkpoint(self, run_id: str) -> str | None:
        """Return a query's checkpoint; None if it is unknown."""

    def sink(self, run_id: str) -> str | None:
        """Return the folder that a query writes files to; None for another sink."""

    def stop(self, run_id: str) -> None:
        """Stop a query, and wait for its end."""


class Drain:
    """Stops each query once it has completed a batch since the first step, or runs none."""

    def __init__(self, queries: JobQueries) -> None:
        self._queries = queries
        self._batches: dict[str, int] = {}

    def step(self) -> bool:
        """Stop the queries that can be stopped now; return whether none runs any more."""
        for run_id in self._queries.active():
            last = self._queries.last_batch(run_id)
            if last != self._batches.setdefault(run_id, last) or self._queries.rests(run_id):
                self._queries.stop(run_id)
        return not self._queries.active()


def drain(spark: Any, limit_s: float = DRAIN_LIMIT_S) -> None:
    """Drain a session, or stop its queries after ``limit_s`` seconds: committed batches stay, the
    others run again at the next start. A StreamingContext stops gracefully, with its application.
    """
    if not hasattr(spark, "streams"):
        spark.stop(stopSparkContext=True, stopGraceFully=True)
        return
    queries, until_s = SessionQueries(spark), time.monotonic() + limit_s
    draining = Drain(queries)
    while not draining.step():
        if time.monotonic() > until_s:
            for run_id in list(queries.active()):
                queries.stop(run_id)
        time.sleep(_POLL_S)


class SessionQueries:
    """The active queries of ``spark``, by their run ids; without ``streams``, only public calls are
    made, and checkpoints and sinks are unknown.
    """

    def __init__(self, spark: Any, streams: Streams | None = None) -> None:
        self._spark = spark
        self._streams = streams
        self._queries: dict[str, Any] = {}

    def active(self) -> Collection[str]:
        """Return the run ids of the running queries."""
        self._queries = {str(query.runId): query for query in self._spark.streams.active}
        return self._queries.keys()

    def last_batch(self, run_id: str) -> int:
        """Return the number of a query's last completed batch, -1 for none."""
        query = self._queries[run_id]
        if self._streams:
            return self._streams.last_batch(query)
        progress = query.lastProgress
        return -1 if progress is None else int(progress["batchId"])

    def rests(self, run_id: str) -> bool:
        """Return whether a query runs no batch now."""
        return not runs_batch(self._queries[run_id].status)

    def checkpoint(self, run_id: str) -> str | None:
        """Return a query's checkpoint; None if it is unknown."""
        folder = self._streams.state_folder(self._queries[run_id]) if self._streams else None
        return None if folder is None else folder.removesuffix("/state")

    def sink(self, run_id: str) -> str | None:
        """Return the folder that a query writes files to; None for another sink."""
        return self._streams.sink_folder(self._queries[run_id]) if self._streams else None

    def stop(self, run_id: str) -> None:
        """Stop a query, and wait for its end."""
        self._queries[run_id].stop()
