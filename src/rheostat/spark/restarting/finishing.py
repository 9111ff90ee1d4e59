"""A job that is started only to commit a planned batch: nobody sizes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rheostat.journal.control_channel import ControlChannel, Order
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.resizing.look_thread import LookThread
from rheostat.spark.restarting.job_watch import JobWatch
from rheostat.spark.restarting.one_batch import OneBatch
from rheostat.spark.restarting.session_queries import SessionQueries


def finishing(spark: Any, folder: Path, order: Order, batches: OneBatch) -> LookThread:
    """Report when every query that the script has started has ended; to be stopped."""
    internals = internals_of(spark)
    watch = JobWatch(
        SessionQueries(spark, internals.queries),
        ControlChannel(folder),
        order.run,
        lambda: batches.started,
    )
    thread = LookThread(watch.look, watch.pause_s, internals.gateway.stopped)
    thread.start(lambda: None)
    return thread
