"""For how long a session runs nothing, which decides whether it needs executors."""

from __future__ import annotations

import logging
import math
from typing import Any, Protocol

from rheostat.protocols.release import LONG_TRIGGER_S
from rheostat.spark.sensing.running_queries import BatchTimes, Rhythms

_log = logging.getLogger("rheostat")


class Triggers(BatchTimes, Protocol):
    """The JVM calls about the triggers and batches of queries."""

    def real_time_s(self, query: Any) -> float | None:
        """Return the duration of a batch in real-time mode; None with other triggers."""


class QuietTime:
    """Returns the seconds until something is due: the next batch of a query, or a running job.

    A query that never pauses for long is logged once: it keeps its executors.
    """

    def __init__(self, spark: Any, queries: Triggers) -> None:
        self._spark = spark
        self._queries = queries
        self._rhythms = Rhythms(queries)
        self._logged: set[str] = set()

    def __call__(self, now: float) -> float:
        """Return 0 while a job or a batch runs, and infinity without a query."""
        active = {str(query.runId): query for query in self._spark.streams.active}
        self._rhythms.keep(active)
        for run_id in active.keys() - self._logged:
            self._logged.add(run_id)
            if line := continuous_line(active[run_id], self._queries):
                _log.warning("rheostat: %s", line)
        # Jobs that are no query's, too: without executors they would wait forever.
        if self._spark.sparkContext.statusTracker().getActiveJobsIds():
            return 0.0
        pauses_s = (self._rhythms.pause_left_s(query, now) for query in active.values())
        return min(pauses_s, default=math.inf)


def continuous_line(query: Any, queries: Triggers) -> str | None:
    """Return why a query keeps its executors although ``min`` is 0; None if it pauses for long."""
    interval_s, real_time_s = queries.trigger_s(query), queries.real_time_s(query)
    if real_time_s is None and (interval_s is None or interval_s >= LONG_TRIGGER_S):
        return None
    how = "real-time mode" if real_time_s is not None else f"trigger interval {interval_s:g} s"
    return (
        f"min executors is 0, but query {query.name or query.id} runs continuously ({how}) and"
        f" keeps at least 1; use min 1, trigger(availableNow=True) or an interval of at least"
        f" {LONG_TRIGGER_S:g} s"
    )
