"""The queries of a session, as a supervised job looks at them and stops them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from rheostat.spark.sensing.queries.in_flight import runs_batch


class Streams(Protocol):
    """The calls of the JVM that concern queries."""

    def last_batch(self, query: Any) -> int:
        """Return the number of the last finished batch of a query, -1 for none."""
        ...

    def state_folder(self, query: Any) -> str | None:
        """Return where a query's state is."""
        ...

    def sink_folder(self, query: Any) -> str | None:
        """Return the folder that a query writes files to."""
        ...


class SessionQueries:
    """The active queries of ``spark``, by their run ids."""

    def __init__(self, spark: Any, streams: Streams) -> None:
        self._spark = spark
        self._streams = streams
        self._queries: dict[str, Any] = {}

    def active(self) -> Collection[str]:
        """Return the run ids of the queries that run now."""
        self._queries = {str(query.runId): query for query in self._spark.streams.active}
        return self._queries.keys()

    def last_batch(self, run_id: str) -> int:
        """Return the number of a query's last finished batch, -1 for none."""
        return self._streams.last_batch(self._queries[run_id])

    def rests(self, run_id: str) -> bool:
        """Tell whether a query runs no batch now."""
        return not runs_batch(self._queries[run_id].status)

    def checkpoint(self, run_id: str) -> str | None:
        """Return where a query's checkpoint is; None if it cannot be told."""
        folder = self._streams.state_folder(self._queries[run_id])
        return None if folder is None else folder.removesuffix("/state")

    def sink(self, run_id: str) -> str | None:
        """Return the folder that a query writes files to; None for another sink."""
        return self._streams.sink_folder(self._queries[run_id])

    def stop(self, run_id: str) -> None:
        """Stop a query, and wait for its end."""
        self._queries[run_id].stop()
