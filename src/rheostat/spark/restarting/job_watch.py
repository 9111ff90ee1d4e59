"""What a supervised job does between its decisions: it reports that it works, and stops its queries
after their batches when it is told to drain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

from rheostat.journal.control_channel import ControlChannel, Report

CALM_S = 0.2
DRAINING_S = 0.02
"""A query that runs batches back to back plans the next one within some 50 ms of the last."""


class JobQueries(Protocol):
    """The queries of the job that run now."""

    def active(self) -> Collection[str]:
        """Return the run ids of the queries that run now."""
        ...

    def last_batch(self, run_id: str) -> int:
        """Return the number of a query's last finished batch, -1 for none."""
        ...

    def rests(self, run_id: str) -> bool:
        """Tell whether a query runs no batch now."""
        ...

    def checkpoint(self, run_id: str) -> str | None:
        """Return where a query's checkpoint is; None if it cannot be told."""
        ...

    def sink(self, run_id: str) -> str | None:
        """Return the folder that a query writes files to; None for another sink."""
        ...

    def stop(self, run_id: str) -> None:
        """Stop a query, and wait for its end."""
        ...


class JobWatch:
    """Looks at the job's queries and at what its supervisor orders; ``started`` tells how many
    queries the script has started, where that is known.
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
        self._met: dict[str, int] = {}
        self._draining = False

    def pause_s(self, now: float) -> float:
        """Return how long to wait until the next look."""
        return DRAINING_S if self._draining else CALM_S

    def look(self, now: float) -> None:
        """Report what is new, and stop each query that has ended a batch since it was asked to, or
        rests.
        """
        active = self._queries.active()
        self._learn(active, now)
        order = self._channel.order()
        if order is None or order.run != self._report.run:
            return
        if order.drain:
            self._draining = True
            self._drain(active, now)
        elif order.once and self._started() and not active:
            self._tell(drained_s=now)

    def _learn(self, active: Collection[str], now: float) -> None:
        """Report that the job works, and of each query, also of one that is started later, where
        its state is and where it writes.
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
        self._tell(
            works_s=now if works_s is None else works_s,
            checkpoints=tuple(sorted({*self._report.checkpoints, *queries})),
            sinks={**self._report.sinks, **sinks},
        )

    def _drain(self, active: Collection[str], now: float) -> None:
        for run_id in active:
            last = self._queries.last_batch(run_id)
            if last != self._met.setdefault(run_id, last) or self._queries.rests(run_id):
                self._queries.stop(run_id)
        if not self._queries.active():
            self._tell(drained_s=now)

    def _tell(self, **news: Any) -> None:
        report = replace(self._report, **news)
        if news.get("drained_s") is None or self._report.drained_s is None:
            self._report = report
            self._channel.tell(report)


def own_report(run: int) -> Report:
    """Return the first report of this process: that it is there."""
    return Report(run=run, pid=os.getpid(), began=_began())


def _began() -> str:
    with suppress(ImportError):
        import psutil

        return str(psutil.Process().create_time())
    return ""
