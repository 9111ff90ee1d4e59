"""The job's side of the restart protocol: reports that the job works, and drains its queries on
order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rheostat.journal.control_channel import ControlChannel, Report
from rheostat.spark.restarting.session_queries import Drain, JobQueries

IDLE_S = 0.2
DRAINING_S = 0.02
"""Seconds between polls: a query without an interval plans its next batch within about 50 ms."""


class JobWatch:
    """Observes the queries of a job and follows the orders of its supervisor; ``started`` returns
    the number of queries that the script has started, if known.
    """

    def __init__(
        self,
        queries: JobQueries,
        channel: ControlChannel,
        run: int,
        started: Callable[[], int] = lambda: 0,
    ) -> None:
        self._queries = queries
        self._channel = channel
        self._started = started
        self._report = own_report(run)
        self._known: set[str] = set()
        self._drain: Drain | None = None

    def pause_s(self, now: float) -> float:
        """Return the seconds until the next poll."""
        return DRAINING_S if self._drain else IDLE_S

    def poll(self, now: float) -> None:
        """Report changes, and continue a drain that was ordered."""
        active = self._queries.active()
        self._report_queries(active, now)
        order = self._channel.order()
        if order is None or order.run != self._report.run:
            return
        if order.drain:
            self._drain = self._drain or Drain(self._queries)
            if self._drain.step():
                self._update_report(drained_s=now)
        elif order.once and self._started() and not active:
            self._update_report(drained_s=now)

    def _report_queries(self, active: Collection[str], now: float) -> None:
        """Report that the job works, and the state and sink of each query, including those that
        start later.
        """
        works_s = self._report.works_s
        fresh = [run_id for run_id in active if run_id not in self._known]
        if not fresh:
            return
        if works_s is None and not any(self._queries.last_batch(query) >= 0 for query in active):
            return
        self._known.update(fresh)
        queries = {
            checkpoint: self._queries.sink(run_id)
            for run_id in fresh
            if (checkpoint := self._queries.checkpoint(run_id))
        }
        sinks = {checkpoint: sink for checkpoint, sink in queries.items() if sink}
        self._update_report(
            works_s=now if works_s is None else works_s,
            checkpoints=tuple(sorted({*self._report.checkpoints, *queries})),
            sinks={**self._report.sinks, **sinks},
        )

    def _update_report(self, **news: Any) -> None:
        report = replace(self._report, **news)
        if news.get("drained_s") is None or self._report.drained_s is None:
            self._report = report
            self._channel.write_report(report)


def own_report(run: int) -> Report:
    """Return the first report of this process, which states that it runs."""
    return Report(run=run, pid=os.getpid(), began=_began())


def _began() -> str:
    with suppress(ImportError):
        import psutil

        return str(psutil.Process().create_time())
    return ""
