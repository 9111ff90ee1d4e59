"""Reads the lines of an event log into what an application was: its executors and its queries."""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

_STREAMING = "org.apache.spark.sql.streaming.StreamingQueryListener$"
_FOREIGN = 20
"""Lines at the beginning of which none is an event of Spark: the file is something else."""

_CUT = 4096
"""Progress events between two looks for those that are too old."""

Batch = tuple[str, int]
"""The id of a query and of one of its batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """What the tasks of a batch took."""

    busy_s: float
    """Run time of all tasks."""

    count: int
    max_s: float
    """Of the stage with most run time."""

    median_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A progress event: a batch or, without rows, a look at the sources."""

    run: str
    """The id of the query's run; each start of a query is another one."""

    batch_id: int
    begin_s: float
    batch_s: float
    parts_s: Mapping[str, float]
    rows: int
    looked_s: float
    """When the latest offsets were read."""

    starts: Mapping[str, float]
    """Sum of the start offsets by source, where they are numbers."""

    ends: Mapping[str, float]
    latest: Mapping[str, float]
    source_rows: Mapping[str, int]
    source_partitions: int | None
    state_rows: int | None
    state_bytes: int | None
    state_partitions: int | None
    tasks: Tasks | None = None

    @property
    def end_s(self) -> float:
        """When it ended."""
        return self.begin_s + self.batch_s


@dataclass(slots=True, kw_only=True)
class QueryLog:
    """One streaming query of an application."""

    query: str
    name: str | None = None
    earlier_names: list[str] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    starts: int = 0
    completed: set[str] = field(default_factory=set)
    """The runs that ended without a failure."""

    clock_back_s: float = 0.0
    """By how much a progress event is before the one in front of it; 0 where none is."""

    failures: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class ApplicationLog:
    """An application as its event log shows it."""

    application: str
    name: str | None = None
    spark: str | None = None
    conf: dict[str, str] = field(default_factory=dict)
    executors: list[tuple[float, str, int]] = field(default_factory=list)
    """Changes: Unix seconds, the executor's id, its cores; 0 cores when it left."""

    requests: list[tuple[float, float]] = field(default_factory=list)
    """Of each executor whose request is recorded: when it was requested and when it registered."""

    queries: dict[str, QueryLog] = field(default_factory=dict)
    failed_tasks: int = 0
    spilled_bytes: int = 0
    gc_s: float = 0.0
    run_s: float = 0.0
    malformed: int = 0
    lines: int = 0

    @property
    def is_event_log(self) -> bool:
        """Whether any line was an event of Spark."""
        return self.malformed < self.lines


def read_log(name: str, lines: Iterable[str], hours: float = math.inf) -> ApplicationLog:
    """Return what the lines of an event log, or the JSON of progress events alone, tell.

    ``hours`` keeps the progress events of that time before the newest one of a query. A malformed
    line is counted and left out; events of a newer Spark that are not known here are skipped.
    Memory grows with the number of batches in ``hours``, not with that of tasks.
    Source: Spark's ``JsonProtocol``; times there are Unix milliseconds.
    """
    reader = _Reader(ApplicationLog(application=name), 3600 * hours)
    for line in lines:
        reader.read(line)
        if reader.log.lines == _FOREIGN and not reader.log.is_event_log:
            break
    reader.finish()
    return reader.log


class _Reader:
    """The state of reading a log: which stage belongs to which batch, and tasks that wait for the
    progress event of their batch.
    """

    def __init__(self, log: ApplicationLog, kept_s: float) -> None:
        self.log, self._kept_s = log, kept_s
        self._batch_of_stage: dict[int, Batch] = {}
        self._stages: dict[Batch, list[int]] = defaultdict(list)
        self._runs: dict[Batch, dict[int, list[float]]] = {}
        self._events: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "SparkListenerLogStart": self._start,
            "SparkListenerApplicationStart": self._application,
            "SparkListenerEnvironmentUpdate": self._environment,
            "SparkListenerExecutorAdded": self._added,
            "SparkListenerExecutorRemoved": self._removed,
            "SparkListenerJobStart": self._job,
            "SparkListenerTaskEnd": self._task,
            f"{_STREAMING}QueryStartedEvent": self._query_started,
            f"{_STREAMING}QueryProgressEvent": lambda event: self._progress(event["progress"]),
            f"{_STREAMING}QueryIdleEvent": self._idle,
            f"{_STREAMING}QueryTerminatedEvent": self._terminated,
        }

    def read(self, line: str) -> None:
        """Take in one line."""
        # Half of a log are events that nobody here reads; parsing them would double the time.
        name = line[10 : line.find('"', 10)] if line.startswith('{"Event":"') else None
        if name is not None and name not in self._events:
            self.log.lines += 1
            return
        if not line.strip():
            return
        self.log.lines += 1
        try:
            event = json.loads(line)
            if name is None:
                self._progress(event.get("progress", event))
            else:
                self._events[name](event)
        except (ValueError, KeyError, TypeError, AttributeError):
            self.log.malformed += 1

    def finish(self) -> None:
        """Sort what has come out of order."""
        self.log.executors.sort()
        for query in self.log.queries.values():
            query.progress.sort(key=lambda progress: progress.begin_s)

    def _start(self, event: Mapping[str, Any]) -> None:
        self.log.spark = event["Spark Version"]

    def _application(self, event: Mapping[str, Any]) -> None:
        self.log.name = event["App Name"]

    def _environment(self, event: Mapping[str, Any]) -> None:
        self.log.conf.update(event["Spark Properties"])

    def _added(self, event: Mapping[str, Any]) -> None:
        info = event["Executor Info"]
        at_s, executor = event["Timestamp"] / 1000, event["Executor ID"]
        self.log.executors.append((at_s, executor, info["Total Cores"]))
        if info.get("Request Time"):
            self.log.requests.append((info["Request Time"] / 1000, at_s))

    def _removed(self, event: Mapping[str, Any]) -> None:
        self.log.executors.append((event["Timestamp"] / 1000, event["Executor ID"], 0))

    def _job(self, event: Mapping[str, Any]) -> None:
        properties = event.get("Properties") or {}
        query, batch = (
            properties.get("sql.streaming.queryId"),
            properties.get("streaming.sql.batchId"),
        )
        if query and batch:
            self._stages[query, int(batch)] += event["Stage IDs"]
            self._batch_of_stage.update(dict.fromkeys(event["Stage IDs"], (query, int(batch))))

    def _task(self, event: Mapping[str, Any]) -> None:
        if event["Task Info"]["Failed"]:
            self.log.failed_tasks += 1
        metrics = event.get("Task Metrics")
        if not metrics:
            return
        run_s = metrics["Executor Run Time"] / 1000
        self.log.run_s += run_s
        self.log.gc_s += metrics.get("JVM GC Time", 0) / 1000
        self.log.spilled_bytes += metrics.get("Disk Bytes Spilled", 0)
        stage = event["Stage ID"]
        if batch := self._batch_of_stage.get(stage):
            self._runs.setdefault(batch, defaultdict(list))[stage].append(run_s)

    def _query_started(self, event: Mapping[str, Any]) -> None:
        query = self._query(event)
        query.starts += 1

    def _terminated(self, event: Mapping[str, Any]) -> None:
        if failure := event.get("exception"):
            self._query(event).failures.append(_cause(str(failure)))
        else:
            self._query(event).completed.add(event["runId"])

    def _query(self, event: Mapping[str, Any]) -> QueryLog:
        log = self.log.queries.setdefault(event["id"], QueryLog(query=event["id"]))
        name = event.get("name") or log.name
        if log.name not in (None, name):
            log.earlier_names.append(str(log.name))
        log.name = name
        return log

    def _progress(self, event: Mapping[str, Any]) -> None:
        batch = (event["id"], int(event["batchId"]))
        progress = progress_of(event, self._tasks(batch) if _is_batch(event) else None)
        self._keep(self._query(event), progress)

    def _idle(self, event: Mapping[str, Any]) -> None:
        """Take in that a query without new rows is running: no progress event says so."""
        query = self._query(event)
        if query.progress:
            at_s = _unix_s(event["timestamp"])
            nothing = replace(query.progress[-1], parts_s={}, starts={}, ends={}, latest={})
            idle = replace(nothing, begin_s=at_s, looked_s=at_s, batch_s=0.0, rows=0, tasks=None)
            self._keep(query, replace(idle, source_rows={}))

    def _keep(self, query: QueryLog, progress: Progress) -> None:
        kept = query.progress
        if kept:
            query.clock_back_s = max(query.clock_back_s, kept[-1].begin_s - progress.begin_s)
        kept.append(progress)
        # Seldom: cutting the list for each event would take longer than reading it.
        if len(kept) % _CUT == 0:
            oldest_s = progress.begin_s - self._kept_s
            kept[:] = [earlier for earlier in kept if earlier.begin_s >= oldest_s]

    def _tasks(self, batch: Batch) -> Tasks | None:
        stages = self._runs.pop(batch, None)
        for stage in self._stages.pop(batch, ()):  # those that were skipped, too
            self._batch_of_stage.pop(stage, None)
        if not stages:
            return None
        most = max(stages.values(), key=sum)
        return Tasks(
            busy_s=sum(map(sum, stages.values())),
            count=sum(map(len, stages.values())),
            max_s=max(most),
            median_s=statistics.median(most),
        )


def progress_of(event: Mapping[str, Any], tasks: Tasks | None = None) -> Progress:
    """Return a progress event as values; raises KeyError, ValueError or TypeError for others."""
    begin_s = _unix_s(event["timestamp"])
    parts_s = {name: ms / 1000 for name, ms in event["durationMs"].items()}
    sources = {
        _source_name(number, source): source for number, source in enumerate(event["sources"])
    }
    state = event.get("stateOperators") or ()
    partitions = [_partitions(source.get("endOffset")) for source in sources.values()]
    return Progress(
        run=event.get("runId", ""),
        batch_id=int(event["batchId"]),
        begin_s=begin_s,
        batch_s=parts_s.get("triggerExecution", event.get("batchDuration", 0) / 1000),
        parts_s=parts_s,
        rows=sum(source["numInputRows"] for source in sources.values()),
        looked_s=begin_s + parts_s.get("latestOffset", 0.0),
        starts=_totals(sources, "startOffset"),
        ends=_totals(sources, "endOffset"),
        latest=_totals(sources, "latestOffset"),
        source_rows={name: source["numInputRows"] for name, source in sources.items()},
        source_partitions=sum(filter(None, partitions)) or None,
        state_rows=sum(operator["numRowsTotal"] for operator in state) if state else None,
        state_bytes=sum(operator["memoryUsedBytes"] for operator in state) if state else None,
        state_partitions=max((o.get("numShufflePartitions") or 0 for o in state), default=0)
        or None,
        tasks=tasks,
    )


def _unix_s(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


def _is_batch(event: Mapping[str, Any]) -> bool:
    return "addBatch" in event["durationMs"]


def _source_name(number: int, source: Mapping[str, Any]) -> str:
    return f"{number}: {source.get('description', 'source')}"


def _cause(failure: str) -> str:
    """Return the line of an exception's text that names the cause: the last one of a Python
    traceback, otherwise the first one.
    """
    first, *others = failure.splitlines()
    if not first.endswith("Traceback (most recent call last):"):
        return first
    return next((line for line in others if line[:1].strip()), first)


def _totals(sources: Mapping[str, Mapping[str, Any]], which: str) -> dict[str, float]:
    totals = {name: _total(source.get(which)) for name, source in sources.items()}
    return {name: total for name, total in totals.items() if total is not None}


def _decoded(offset: Any) -> Any:
    """Return an offset as JSON; Spark writes it as a text in some versions."""
    if isinstance(offset, str):
        try:
            return json.loads(offset)
        except ValueError:
            return None
    return offset


def _total(offset: Any) -> float | None:
    """Return the sum of a number or of nested maps of numbers; None for any other offset."""
    offset = _decoded(offset)
    if isinstance(offset, int | float) and not isinstance(offset, bool):
        return float(offset)
    if isinstance(offset, dict) and offset:
        totals = [_total(value) for value in offset.values()]
        return None if None in totals else sum(filter(None, totals))
    return None


def _partitions(offset: Any) -> int | None:
    """Return the number of partitions of an offset by topic and partition."""
    offset = _decoded(offset)
    if isinstance(offset, dict) and all(isinstance(topic, dict) for topic in offset.values()):
        return sum(map(len, offset.values())) or None
    return None
