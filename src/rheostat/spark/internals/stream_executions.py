"""Facts about running queries that only the JVM has, or that it returns faster than PySpark."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from py4j.protocol import Py4JError

from rheostat.signals.rhythm import BatchTime
from rheostat.sources.iceberg_backlog import Snapshot
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import ABSENT, RAISED, Gateway, items
from rheostat.spark.sensing.rest import unix_s

_FILES = "FileSink["
_DURATION = re.compile(r"(\w+)=(-?\d+)")


class _Watched(NamedTuple):
    """Queries by run id, and the JVM object that reads all of them; None if impossible."""

    run_ids: tuple[str, ...] = ()
    reader: Any = None


class Queries:
    """The streaming queries behind PySpark's handles.

    * Calls: ``StreamExecution.trigger``, ``StreamExecution.resolvedCheckpointRoot``,
      ``StreamExecution.lastExecution``, ``StreamExecution.sink``, and the progress events of the
      Java object, those of several queries by the compiled class ``LastBatches``.
    * Without them: None, or no, as documented per method. Probed by the calls themselves.
    * Spark 3.5 to 4.3.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._classes = classes
        self._watched = _Watched()

    def last_batches(self, queries: Mapping[str, Any]) -> dict[str, int]:
        """Return each query's last finished batch number by run id, -1 for none, in one call."""
        run_ids, watched = tuple(queries), self._watched
        if run_ids != watched.run_ids:
            watched = self._watched = _Watched(run_ids, self._batch_reader(queries))
        if watched.reader is None:
            return {run_id: self.last_batch(query) for run_id, query in queries.items()}
        return dict(zip(run_ids, map(int, str(watched.reader.numbers()).split()), strict=True))

    def last_batch(self, query: Any) -> int:
        """Return a query's last finished batch number, -1 for none."""
        progress = query._jsq.lastProgress()
        return -1 if progress is None else int(progress.batchId())

    def batch_times(self, query: Any, most: int) -> list[BatchTime]:
        """Return the last finished batches, oldest first, without triggers that ran no batch."""
        if most == 1:
            ended = [query._jsq.lastProgress()]
        else:
            recent = query._jsq.recentProgress()
            known = len(recent)
            # By index: the JVM would copy a slice with several calls.
            ended = [recent[number] for number in range(max(0, known - most), known)]
        times = ((progress, _durations_ms(progress)) for progress in ended if progress is not None)
        return [
            BatchTime(
                int(progress.batchId()),
                unix_s(str(progress.timestamp())),
                durations_ms["triggerExecution"] / 1000,
            )
            for progress, durations_ms in times
            if "addBatch" in durations_ms
        ]

    def pauses_after(self, query: Any) -> int | None:
        """Return the number of the batch after which a query pauses; None while a batch runs."""
        # First, because this is called many times during a batch.
        if query._jsq.status().isTriggerActive():
            return None
        execution, progress = query._jsq.streamingQuery().lastExecution(), query._jsq.lastProgress()
        if execution is None or progress is None:
            return None
        number = int(execution.currentBatchId())
        return number if number == int(progress.batchId()) else None

    def trigger_s(self, query: Any) -> float | None:
        """Return the trigger interval in seconds (``StreamExecution.trigger``); None: unknown."""
        try:
            trigger = query._jsq.streamingQuery().trigger()
            # One-time and continuous triggers have no interval to pause in.
            timed = "ProcessingTime" in trigger.toString()
            return float(trigger.intervalMs()) / 1000 if timed else None
        except (Py4JError, AttributeError):
            return None

    def real_time_s(self, query: Any) -> float | None:
        """Return the duration of a batch in real-time mode in seconds; None with other triggers."""
        try:
            trigger = query._jsq.streamingQuery().trigger()
            is_real_time = str(trigger.toString()).startswith("RealTimeTrigger")
            return float(trigger.batchDurationMs()) / 1000 if is_real_time else None
        except ABSENT:
            return None

    def state_folder(self, query: Any) -> str | None:
        """Return the state folder (``StreamExecution.resolvedCheckpointRoot``); None if unknown."""
        try:
            root = query._jsq.streamingQuery().resolvedCheckpointRoot()
            return str(self._path(root, "state").toString())
        except ABSENT:
            return None

    def checkpoint(self, query: Any) -> str | None:
        """Return the folder of a query's checkpoint; None if unknown."""
        state = self.state_folder(query)
        return state.removesuffix("/state") if state else None

    def sink_folder(self, query: Any) -> str | None:
        """Return the folder of a file sink (``StreamExecution.sink``); None for other sinks."""
        try:
            named = str(query._jsq.streamingQuery().sink().toString())
        except ABSENT:
            return None
        return named[len(_FILES) : -1] if named.startswith(_FILES) else None

    def _batch_reader(self, queries: Mapping[str, Any]) -> Any | None:
        # For a single query, the alternative of three calls takes 0.2 ms.
        try:
            listed = self._gateway.listed(query._jsq for query in queries.values())
            return self._classes.in_driver("LastBatches", listed)
        except ABSENT:
            return None

    @functools.cached_property
    def _path(self) -> Any:
        # Cached, because py4j resolves every part of a name in the JVM.
        return self._jvm.org.apache.hadoop.fs.Path


def _durations_ms(progress: Any) -> dict[str, int]:
    """Return the durations of a progress event, in milliseconds."""
    # As text, because each single value would take a call.
    return {name: int(ms) for name, ms in _DURATION.findall(progress.durationMs().toString())}


class EverySession:
    """A session whose ``streams.active`` are the running queries of every session of its
    application; every other attribute is the session's own.

    * Calls: ``SharedState.activeStreamingQueries``, and makes a ``StreamingQueryWrapper`` of each.
    * Without them: the queries of the session itself.
    * Spark 4.3.
    """

    def __init__(self, spark: Any) -> None:
        self._spark = spark

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spark, name)

    def __dir__(self) -> list[str]:
        return [*dir(self._spark), "streams"]

    @property
    def streams(self) -> Any:
        """Return the used part of a session's ``streams``: ``active``."""
        return SimpleNamespace(active=self._active())

    def _active(self) -> list[Any]:
        from pyspark.sql.streaming import StreamingQuery

        jvm = self._spark.sparkContext._jvm
        try:
            running = self._spark._jsparkSession.sharedState().activeStreamingQueries().values()
            executions = [*jvm.java.util.ArrayList(running)]
            return [StreamingQuery(_wrapped(jvm, execution)) for execution in executions]
        except ABSENT:
            return list(self._spark.streams.active)


def _wrapped(jvm: Any, execution: Any) -> Any:
    """Wrap a query as ``streams`` does; raises TypeError if Spark has no such class."""
    package = jvm.org.apache.spark.sql.execution.streaming
    try:
        return package.runtime.StreamingQueryWrapper(execution)
    except TypeError:  # py4j takes the name of a missing class for a package
        return package.StreamingQueryWrapper(execution)


class SourceTable:
    """The table of a source, with the catalog and the credentials of the job.

    * Calls: ``StreamExecution.logicalPlan``, ``StreamingDataSourceV2ScanRelation.stream`` and
      ``relation.table``, Iceberg's ``SparkTable.table`` and ``Table``.
    * Without them: ``table_of`` returns None.
    * Spark 4.1.4 with Iceberg 1.12.0 tried.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def newest(self) -> int | None:
        """Refresh the table, as the stream does before each batch; return its current snapshot."""
        try:
            self._table.refresh()
            current = self._table.currentSnapshot()
            return None if current is None else int(current.snapshotId())
        except RAISED as fault:
            raise OSError(f"the Iceberg table cannot be read: {str(fault)[:200]}") from None

    def snapshot(self, number: int) -> Snapshot | None:
        """Return a snapshot; None once it has expired."""
        snapshot = self._table.snapshot(number)
        if snapshot is None:
            return None
        parent, summary = snapshot.parentId(), dict(snapshot.summary())
        numbers = {name: int(text) for name, text in summary.items() if str(text).isdecimal()}
        return Snapshot(
            number=number,
            parent=None if parent is None else int(parent),
            appends=str(snapshot.operation()) == "append",
            files=numbers.get("added-data-files", 0),
            rows=numbers.get("added-records"),
            all_files=numbers.get("total-data-files", 0),
            all_rows=numbers.get("total-records"),
        )


def table_of(query: Any, description: str) -> SourceTable | None:
    """Return the table of the source with this description; None where it is not known."""
    try:
        for leaf in items(query._jsq.streamingQuery().logicalPlan().collectLeaves()):
            scans = str(leaf.nodeName()).startswith("StreamingDataSourceV2ScanRelation")
            if scans and str(leaf.stream().toString()) == description:
                return SourceTable(leaf.relation().table().table())
    except ABSENT:
        return None
    return None
