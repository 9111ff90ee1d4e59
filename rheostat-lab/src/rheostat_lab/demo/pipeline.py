"""The lab's pipeline: a Nexmark query from Kafka, files or Delta tables into a Parquet folder,
restarted from its checkpoint if it fails.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyspark

from rheostat.errors import RheostatError
from rheostat.model import Record
from rheostat.spark.sensing import progress
from rheostat.spark.sensing.query_shape import (
    CHANGELOG,
    FILES,
    PROVIDER,
    ROCKSDB,
    SHUFFLE_PARTITIONS,
    checkpoint_files_class,
)
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Pages, Rest, unix_s
from rheostat_lab.nexmark.landing import landing_of
from rheostat_lab.nexmark.queries import find_query
from rheostat_lab.nexmark.streams import topic_streams, with_service_time
from rheostat_lab.report.finished_run import CommittedBatch, ExecutorLife
from rheostat_lab.services.logged_session import start_logged_session

_ANSWER_S = 120.0
"""Seconds to wait for the driver's response after a run, when only the report needs it."""

_WARM_UP_TRIGGER_S = 0.5
"""The longest trigger of the warm-up, which would only wait with a longer one."""

# The report derives every batch from its progress; Spark's default keeps only the last 100.
_KEPT_BATCHES = 100_000
QUERY_OPTIONS = {
    SHUFFLE_PARTITIONS: "8",
    "spark.sql.streaming.numRecentProgressUpdates": str(_KEPT_BATCHES),
    PROVIDER: ROCKSDB,
    CHANGELOG: "true",
    "spark.sql.session.timeZone": "UTC",
    # Compaction at every tenth batch would rewrite the complete log of the file sink: 2 s after 900
    # batches, whatever their size.
    "spark.sql.streaming.fileSink.log.compactInterval": "1000000",
    # Each new executor must compile generated code: 0.2 of the 0.95 CPU-seconds of its first task.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def start_query(
    spark: Any,
    name: str,
    bootstrap: str,
    topics: Mapping[str, str],
    folder: str,
    service_ms: float,
    trigger_s: float,
) -> Any:
    """Start a Nexmark query from topics (by kind of events) into ``folder``/sink and return
    it; each event is delayed by ``service_ms``.
    """
    streams = {
        kind: with_service_time(stream, service_ms)
        for kind, stream in topic_streams(spark, bootstrap, topics).items()
    }
    writer = (
        find_query(name)
        .frame(streams)
        .writeStream.format("parquet")
        .queryName(name)
        .trigger(processingTime=f"{trigger_s:g} seconds")
    )
    return (
        writer.option("path", f"{folder}/sink")
        .option("checkpointLocation", f"{folder}/checkpoint")
        .start()
    )


class Pipeline:
    """One session and one query; ``folder`` contains checkpoint and sink."""

    def __init__(
        self,
        name: str,
        bootstrap: str,
        topics: Mapping[str, str],
        folder: Path,
        service_ms: float,
        trigger_s: float,
    ) -> None:
        self.name = name
        self.sink = folder / "sink"
        self.failures = 0
        self._bootstrap = bootstrap
        self._topics = topics
        self._folder = folder
        self._service_ms = service_ms
        self._trigger_s = trigger_s
        self._queries: list[Any] = []
        self.spark: Any = None

    def start(self, master: str, options: Mapping[str, str], log: Path) -> None:
        """Start the session; ``log`` receives the output of Spark's driver."""
        files = {FILES: checkpoint_files_class(pyspark.__version__)}
        self.spark = start_logged_session(
            master, {**QUERY_OPTIONS, **files, **options}, f"rheostat demo {self.name}", log
        )

    def warm_up(
        self, topics: Mapping[str, str], batches: int = 10, deadline_s: float = 60.0
    ) -> None:
        """Run the query on other topics for some batches, so that a young JVM is not measured."""
        folder = str(self._folder / "warm-up")
        trigger_s = min(self._trigger_s / 2, _WARM_UP_TRIGGER_S)
        query = start_query(self.spark, self.name, self._bootstrap, topics, folder, 0.0, trigger_s)
        deadline = time.monotonic() + deadline_s
        while query.isActive and time.monotonic() < deadline:
            # Batches without rows do not warm up anything.
            if sum(1 for event in query.recentProgress if progress.batch_of(event).rows) >= batches:
                break
            time.sleep(0.5)
        query.stop()

    def start_query(self) -> None:
        """Start the query, from its checkpoint if there is one."""
        self._queries.append(
            start_query(
                self.spark,
                self.name,
                self._bootstrap,
                self._topics,
                str(self._folder),
                self._service_ms,
                self._trigger_s,
            )
        )

    def keep_running(self) -> str | None:
        """Restart the query from its checkpoint if it has failed; return the cause in one line,
        otherwise None.
        """
        query = self._queries[-1]
        if query.isActive:
            return None
        self.failures += 1
        reason = str(query.exception()).strip().splitlines()
        self.start_query()
        return reason[0] if reason else "it ended"

    def has_committed(self, rows: int) -> bool:
        """Return whether ``rows`` rows of the topics are committed; for files and tables, whose
        progress has no running count, whether no remaining rows are known.
        """
        last = self._queries[-1].lastProgress
        if not last:
            return False
        if landing_of(self._bootstrap):
            status = self._queries[-1].status
            return not status["isDataAvailable"] and not status["isTriggerActive"]
        return sum(progress.batch_of(last).committed.values()) >= rows

    def drain(self) -> None:
        """Wait until everything in the topics is processed, including the batch without data that
        closes sessions.
        """
        self._queries[-1].processAllAvailable()

    def batches(self) -> list[CommittedBatch]:
        """Return all batches with rows, over all restarts, in order."""
        events = (event for query in self._queries for event in query.recentProgress)
        reported = [batch for event in events if (batch := progress.batch_of(event)).rows]
        # By number: a batch that runs again after a restart is reported twice; the last one counts.
        return committed_batches([*{batch.batch_id: batch for batch in reported}.values()])

    def executors(self, records: list[Record]) -> tuple[list[ExecutorLife], int]:
        """Return the lifetime of every executor, and the number of failed tasks."""
        return executors_of(self.spark, records)

    def stop(self) -> None:
        """End the query and the session."""
        if self.spark is not None:
            for query in self._queries[-1:]:
                query.stop()
            self.spark.stop()
            self.spark = None

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def committed_batches(reported: Sequence[progress.ReportedBatch]) -> list[CommittedBatch]:
    """Return batches with their rows counted from the first on: by Kafka's offsets, else by the
    rows of the batches before.
    """
    batches, end = [], 0
    for batch in sorted(reported, key=lambda batch: batch.batch_id):
        end = sum(batch.committed.values()) or end + batch.rows
        batches.append(
            CommittedBatch(
                end - batch.rows, end, batch.start_s, batch.commit_s, batch.rows, batch.parts_s
            )
        )
    return batches


def executors_of(spark: Any, records: list[Record]) -> tuple[list[ExecutorLife], int]:
    """Return the lifetime of every executor of a session, and the number of failed tasks; raises
    RheostatError if the driver does not report them.
    """
    context = spark.sparkContext
    return executor_lives(Rest(context.uiWebUrl, context.applicationId, _ANSWER_S), records)


def executor_lives(pages: Pages, records: list[Record]) -> tuple[list[ExecutorLife], int]:
    """Return the lifetimes and failed tasks from a driver's REST interface; raises RheostatError if
    it does not report them.
    """
    endpoint = ExecutorsEndpoint(pages)
    executors, failed_tasks = endpoint.all(), endpoint.failed_tasks()
    # Unknown is not zero: a run without executors would be the cheapest of all.
    if not executors or failed_tasks is None:
        raise RheostatError(
            "the driver does not report its executors and failed tasks, so the"
            " run has no result; the computer may be too busy"
        )
    lives = [
        ExecutorLife(
            executor.id,
            None,
            unix_s(executor.registered_s),
            unix_s(executor.removed_s) if executor.removed_s else None,
        )
        for executor in sorted(executors, key=lambda executor: executor.registered_s)
    ]
    return requested(lives, records), failed_tasks


def requested(lives: list[ExecutorLife], records: list[Record]) -> list[ExecutorLife]:
    """Return the lifetimes with the time of the request: the last increase of the target before the
    executor registered; None for the first executors.
    """
    # A tick without an observation has no target: the increase then counts from the tick before it.
    targets = [(record.t_s, record.target) for record in records if record.target is not None]
    raises = [t_s for (_, before), (t_s, target) in pairwise(targets) if target > before]
    return [
        ExecutorLife(
            life.id,
            # The last increase before it registered; an earlier one would overstate its start time.
            max((t_s for t_s in raises if t_s <= life.registered_s), default=None),
            life.registered_s,
            life.removed_s,
        )
        for life in lives
    ]
