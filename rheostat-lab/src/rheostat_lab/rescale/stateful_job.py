"""A stateful query under a light load, for benchmarks and soak tests: one session, one query, its
batches, and a verdict at the end.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rheostat.errors import RheostatError
from rheostat.local.fast_local_files import local_files
from rheostat.local.local_session import start_session
from rheostat.model import Limits
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.sensing import progress
from rheostat.storage.file_system import is_remote
from rheostat_lab.clusters.cluster_kinds import LocalCluster
from rheostat_lab.clusters.session_options import DRIVER_FLAGS, class_path, session_options
from rheostat_lab.rescale import event_log
from rheostat_lab.rescale.disturbance import Timed
from rheostat_lab.rescale.job_setting import Setting
from rheostat_lab.rescale.stateful_oracle import Verdict, verify_stateful
from rheostat_lab.rescale.stateful_queries import start_stateful_query
from rheostat_lab.rescale.stateful_rows import Feed, Shape, open_rows
from rheostat_lab.services.broker import Broker

TOPIC_PARTITIONS = 8
DEADLINE_S = 300.0
POLL_S = 0.1
MOST_FAILURES = 5


class StatefulJob:
    """A session with one stateful query and its load; ``batches`` are those finished so far, over
    all restarts of the query.

    All waiting goes through ``until``, which reads the query's progress while it waits.
    """

    def __init__(
        self,
        shape: Shape,
        setting: Setting,
        broker: Broker,
        cluster: LocalCluster,
        folder: Path,
        limits: Limits,
        initial: int | None = None,
    ) -> None:
        self.shape, self.setting, self.folder = shape, setting, folder
        self._broker, self._cluster, self._limits, self._initial = broker, cluster, limits, initial
        parent = setting.checkpoints
        self.checkpoint = f"{parent}/{folder.name}" if parent else str(folder / "checkpoint")
        self.failures = 0
        """Number of failures after which the query was restarted."""
        suffix = f"-{folder.name}"
        self.rows = open_rows(shape, broker.bootstrap, suffix)
        self.feed = Feed(self.rows)
        self.out_topic = f"out{suffix}"
        self.batches: dict[int, progress.ReportedBatch] = {}
        self.stopped_s: dict[int, float] = {}
        """The time at which the query was stopped, by the number of the next batch."""
        self.log = event_log.EventLog()
        self.spark: Any = None
        self.query: Any = None
        self.internals: Any = None

    def start(self) -> None:
        """Create the topics, start the session and the query, load the state and wait until its
        snapshots are written.
        """
        for topic in (*self.rows.topics, self.out_topic):
            self._broker.create_topic(topic, TOPIC_PARTITIONS // len(self.rows.topics))
        os.environ.update(self._cluster.driver_environment())
        self.rows.load()
        self.spark = start_session(
            self._cluster.url, self._options(), f"rheostat {self.shape.query}"
        )
        self.spark.sparkContext.setLogLevel("OFF")
        self.internals = internals_of(self.spark)
        self.start_query()
        self.until("the loaded rows are processed", lambda: self.processed() >= self.rows.written)
        self.feed.start()
        self.until("a snapshot of every partition is written", self._has_snapshots)

    def _options(self) -> dict[str, str]:
        scaling = session_options(
            self._limits,
            self._initial,
            jars=class_path(),
            archive_flags=self.setting.archive_flags,
            quiet=True,
            user={"spark.driver.extraJavaOptions": DRIVER_FLAGS, **self.setting.options},
        )
        own = self.setting.spark_options(self.folder)
        return {**local_files().settings, **own, **scaling, **self._cluster.settings}

    def start_query(self) -> None:
        """Start the query, from its checkpoint if there is one."""
        topics = ",".join(self.rows.topics)
        self.query = start_stateful_query(
            self.spark,
            self.shape.query,
            self._broker.bootstrap,
            topics,
            str(self.folder),
            self.setting.trigger_s,
            self.out_topic,
            self.setting.service_ms,
            self.checkpoint,
        )

    def stop_query(self) -> None:
        """Stop the query; the next batch counts from here."""
        self.observe()
        self.stopped_s[self.last_batch + 1] = time.time()
        self.query.stop()

    def keep_running(self) -> None:
        """Restart the query from its checkpoint if it has failed."""
        if self.query.exception() is not None:
            self.failures += 1
            self.start_query()

    def observe(self) -> None:
        """Process the last progress; raises RheostatError if the query has failed more often than
        ``MOST_FAILURES``.
        """
        last = self.query.lastProgress
        if last is not None:
            batch = progress.batch_of(last)
            if batch.rows or "addBatch" in batch.parts_s:
                self.batches[batch.batch_id] = batch
        failure = self.query.exception()
        if failure is not None and self.failures >= MOST_FAILURES:
            raise RheostatError(f"the query has failed: {str(failure).strip().splitlines()[0]}")
        self.keep_running()

    @property
    def last_batch(self) -> int:
        """The number of the last finished batch; -1 before the first."""
        return max(self.batches, default=-1)

    def processed(self) -> int:
        """Return the number of committed rows of the topics."""
        return sum(self.batches[self.last_batch].committed.values()) if self.batches else 0

    def until(self, what: str, reached: Callable[[], bool], deadline_s: float = DEADLINE_S) -> None:
        """Wait for a condition; raises RheostatError after ``deadline_s`` seconds."""
        deadline = time.monotonic() + deadline_s
        while not reached():
            if time.monotonic() > deadline:
                raise RheostatError(f"not within {deadline_s:.0f} s: {what}")
            time.sleep(POLL_S)
            self.observe()

    def pause(self, seconds: float) -> None:
        """Let the query run for some seconds."""
        until_s = time.monotonic() + seconds
        self.until("a pause", lambda: time.monotonic() >= until_s)

    def run_on(self, batches: int) -> None:
        """Wait for the end of this number of further batches."""
        self.observe()
        reached = self.last_batch + batches
        self.until(f"{batches} more batches", lambda: self.last_batch >= reached)

    def timed(self) -> list[Timed]:
        """Return all batches in order; the first after a stop of the query counts from it."""
        self._complete()
        timings = []
        for number, batch in sorted(self.batches.items()):
            start_s = self.stopped_s.get(number, batch.start_s)
            timings.append(Timed(start_s, batch.commit_s, batch.commit_s - start_s))
        return timings

    def _complete(self) -> None:
        """Add batches that were too short to be observed; the JVM keeps them all."""
        if len(self.batches) <= self.last_batch:
            for event in self.query.recentProgress:
                batch = progress.batch_of(event)
                if batch.rows or "addBatch" in batch.parts_s:
                    self.batches[batch.batch_id] = batch

    def state_bytes(self) -> int:
        """Return the size of all state on the executors' disks in bytes, as RocksDB reported with
        the last batch; 0 for another provider.
        """
        last = self.query.lastProgress
        operators = last["stateOperators"] if last is not None else ()
        return sum(
            int(operator["customMetrics"].get("rocksdbSstFileSize", 0)) for operator in operators
        )

    def executors(self) -> list[str]:
        """Return the registered executors, oldest first."""
        ids: list[str] = self.internals.executors.ids()
        return ids

    def follow_log(self) -> event_log.EventLog:
        """Return the event log up to now."""
        return self.log.follow(self.folder / "events")

    def copy_log(self, file: Path) -> None:
        """Copy the event log so far to a file, creating its folder."""
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(event_log.files(self.folder / "events")[-1], file)

    def finish(self) -> Verdict:
        """Stop the load, touch every loaded key, close all windows, let the query process
        everything, and judge its output.
        """
        self.feed.stop()
        self.rows.touch()
        self.until("the last touch of every key", lambda: self.processed() >= self.rows.written)
        self.rows.close()
        self.query.processAllAvailable()
        self.observe()
        return verify_stateful(
            self.shape.query,
            self._broker.bootstrap,
            self.rows.topics,
            sink=self.folder / "sink",
            out_topic=self.out_topic,
        )

    def stop(self) -> None:
        """End load, query and session."""
        if self.feed.running:
            self.feed.stop()
        if self.spark is not None:
            with suppress(Exception):  # a run that ended during a call has no usable connection
                self.query.stop()
                self.spark.stop()
            self.spark = None

    def _has_snapshots(self) -> bool:
        state = f"{self.checkpoint}/state/0"
        kind = ".zip" if self.setting.provider == "rocksdb" else ".snapshot"
        names = (
            list(self.internals.files.files_below(state))
            if is_remote(state)
            else [str(path.relative_to(state)) for path in Path(state).rglob("*")]
        )
        written = {name.partition("/")[0] for name in names if name.endswith(kind)}
        return written >= {str(partition) for partition in range(self.setting.partitions)}

    def __enter__(self) -> StatefulJob:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
