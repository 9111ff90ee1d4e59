"""Makes an unchanged script run one batch of each query and end, which commits a planned batch
before the state is repartitioned.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from rheostat.journal.control_channel import ControlChannel, Order
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.resizing.poll_thread import PollThread
from rheostat.spark.restarting.job_watch import JobWatch
from rheostat.spark.restarting.session_queries import SessionQueries

_WAYS = ("start", "toTable")


class OneBatch:
    """Starts every query of the script with the trigger ``once``, and counts the queries."""

    def __init__(self) -> None:
        self.started = 0

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Apply the trigger while the context lasts."""
        from pyspark.sql.streaming import DataStreamWriter

        before = {name: getattr(DataStreamWriter, name) for name in _WAYS}
        for name, original in before.items():
            setattr(DataStreamWriter, name, self._counted(original))
        try:
            yield
        finally:
            for name, original in before.items():
                setattr(DataStreamWriter, name, original)

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def begin(writer: Any, *positional: Any, **named: Any) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # Spark recommends availableNow, which runs several batches
                writer.trigger(once=True)
            query = original(writer, *positional, **named)
            self.started += 1
            return query

        return begin


def finishing(spark: Any, folder: Path, order: Order, batches: OneBatch) -> PollThread:
    """Return the running thread that reports when every started query has ended."""
    internals = internals_of(spark)
    watch = JobWatch(
        SessionQueries(spark, internals.queries),
        ControlChannel(folder),
        order.run,
        lambda: batches.started,
    )
    thread = PollThread(watch.poll, watch.pause_s, internals.gateway.stopped)
    thread.start(lambda: None)
    return thread
