"""Reads many event logs as a Spark job, one task per log, and returns recordings and advice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.errors import BadInput
from rheostat.journal.record import to_line
from rheostat.model import Limits, Observation, Record, Rescaling, Slo
from rheostat.replay.event_logs.application_log import ApplicationLog, Progress, QueryLog, read_log
from rheostat.replay.event_logs.log_files import LogFiles, lines, refusal
from rheostat.replay.event_logs.log_recording import arrival_curve, moments, query_name, trigger_s
from rheostat.replay.validate import Moment
from rheostat.sim.advice.query_advice import advise
from rheostat.sim.fitting.recorded_run import parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN = 600
"""Maximum number of moments of a recording, so that one page has room for many jobs."""

_CLOCK_S = 5.0
"""Seconds by which the times in a log may go back before it is rejected."""

_FINITE_RUNS = 3
"""Completed runs in the analysed hours from which a query is not one that runs on."""

_EMPTY = "it is empty, or its content is not of the compression that its name states"
_INSTANCE_TYPES = (
    "spark.databricks.clusterUsageTags.clusterNodeType",
    "spark.databricks.workerNodeTypeId",
    "spark.kubernetes.executor.node.selector.node.kubernetes.io/instance-type",
    "spark.kubernetes.node.selector.node.kubernetes.io/instance-type",
)
"""Settings that contain the instance type of the executors' machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The parameters of the analysis, the same for every log."""

    place: str
    slo: Slo
    hours: float = 24.0
    """Hours at the end of each query that are analysed."""

    limits: Limits | None = None
    with_recordings: bool = False
    """Whether rows include their recording."""

    folder: str | None = None
    """Where each task writes its recordings as Parquet; None writes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A query, or a log without one, with its advice or the reason why there is none."""

    application: str
    name: str | None
    spark: str | None
    running: bool
    malformed: int
    query: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    advice: Mapping[str, Any] | None = None
    cannot: str | None = None
    recording: Sequence[str] = ()
    """The lines of a journal, at most ``SHOWN``; empty unless requested."""


def advise_logs(logs: Sequence[LogFiles], request: Request, spark: SparkSession) -> Iterator[Row]:
    """Yield the rows of logs as their tasks end, the largest logs first."""
    largest = sorted(logs, key=lambda log: -log.size_bytes)
    # Use one task per log, so that a small log does not wait for a large one.
    tasks = spark.sparkContext.parallelize(largest, max(1, len(largest)))
    texts = tasks.flatMap(lambda log: [json.dumps(asdict(row)) for row in rows_of(log, request)])
    for text in texts.toLocalIterator(prefetchPartitions=True):
        yield Row(**json.loads(text))


def rows_of(log: LogFiles, request: Request) -> Iterator[Row]:
    """Yield a row for each query of a log; one row with the reason if it cannot be analysed."""
    empty = ApplicationLog(application=log.application)
    try:
        yield from _judged(log, request)
    except (BadInput, OSError) as error:
        yield _without_query(log, empty, refusal(error))
    except Exception as error:  # One log must not end the analysis of the others.
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        yield _without_query(log, empty, f"a defect of Rheostat, please report it: {reason}")


def _judged(log: LogFiles, request: Request) -> Iterator[Row]:
    read = read_log(log.application, lines(log, request.place), request.hours)
    if not read.is_event_log:
        yield _without_query(log, read, "no line is an event of Spark" if read.lines else _EMPTY)
        return
    if reason := _nothing_to_judge(read):
        yield _without_query(log, read, reason)
        return
    for query in read.queries.values():
        yield _row(log, read, query, request)


def _nothing_to_judge(read: ApplicationLog) -> str | None:
    if read.spark and read.spark.startswith("2."):
        return f"Spark {read.spark} is not supported; logs of 3.5 to 4.3 are"
    if not read.queries:
        return "it has no streaming query: a batch job, or a stream before its first batch"
    if not read.executors:
        return "it shows no executors, which only an event log that Spark itself wrote has"
    return None


def _without_query(log: LogFiles, read: ApplicationLog, cannot: str | None = None) -> Row:
    return Row(
        application=read.application,
        name=read.name,
        spark=read.spark,
        running=log.running,
        malformed=read.malformed,
        cannot=cannot,
    )


def _row(log: LogFiles, read: ApplicationLog, query: QueryLog, request: Request) -> Row:
    advice, cannot, recording = None, None, []
    try:
        last_s = query.progress[-1].end_s if query.progress else 0.0
        recording = moments(read, query, last_s - 3600 * request.hours)
        if query.clock_back_s > _CLOCK_S:
            raise BadInput(
                f"its times go back by {query.clock_back_s:.0f} s: two drivers with different"
                " clocks wrote them, or the clock was set"
            )
        runs = query.completed & {event.run for event in query.progress}
        if len(runs) >= _FINITE_RUNS:
            raise BadInput(
                f"{len(runs)} of its runs ended by themselves, as with the trigger availableNow;"
                " latency does not measure such a query, and the policy deadline sizes its runs"
            )
        if len(recording) < 2:
            lost = f"; malformed lines: {read.malformed}" if read.malformed else ""
            raise BadInput(f"fewer than two batches ended{lost}")
        if request.folder:
            _write_parquet(recording, Path(request.folder))
        judged = max(parts(recording), key=len)
        name = recording[0].observation.application
        advice = asdict(advise({name: judged}, request.slo, request.limits))
    except BadInput as error:
        failed = f"; it failed: {query.failures[-1]}" if query.failures else ""
        cannot = f"{error}{failed}"
    return replace(
        _without_query(log, read, cannot),
        query=query_name(read, query),
        facts=facts(read, query, request.slo.latency_s) | {"parts": len(parts(recording))},
        advice=advice,
        recording=_lines(recording) if request.with_recordings else (),
    )


def _lines(recording: Sequence[Moment]) -> list[str]:
    """Return a recording as the lines of a journal without decisions."""
    step = len(recording) // SHOWN + 1
    return [to_line(_record(moment.observation)) for moment in recording[::step]]


def _write_parquet(recording: Sequence[Moment], folder: Path) -> None:
    """Write a recording with the columns of ``Observation`` and nested values as JSON."""
    import pandas as pd

    rows = []
    for moment in recording:
        observed = json.loads(to_line(_record(moment.observation)))["observation"]
        nested = {
            field: json.dumps(value)
            for field, value in observed.items()
            if isinstance(value, dict | list)
        }
        rows.append({**observed, **nested})
    name = re.sub(r"[^\w.-]", "_", recording[0].observation.application or "query")
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(folder / f"{name}.parquet", index=False)


def _record(observation: Observation) -> Record:
    return Record(
        t_s=observation.t_s,
        observation=observation,
        queries=(),
        raw=None,
        guards=(),
        target=observation.target or observation.executors,
        actions=(),
        rescaling=Rescaling(phase="steady"),
    )


def _together(query: QueryLog, other: QueryLog) -> bool:
    """Return whether ``other`` is the same query or overlaps with more than half of ``query``."""
    if not query.progress or not other.progress:
        return query is other
    begin_s, end_s = query.progress[0].begin_s, query.progress[-1].end_s
    overlap_s = min(end_s, other.progress[-1].end_s) - max(begin_s, other.progress[0].begin_s)
    return overlap_s > (end_s - begin_s) / 2


def in_time_bounds(batches: Sequence[Progress], slo_s: float) -> tuple[float, float] | None:
    """Return the bounds of the share of rows that were committed within ``slo_s`` seconds.

    A row waits at least for its own batch and, if each batch reads all that has arrived, at most
    since the start of the previous batch.
    """
    rows = sum(batch.rows for _, batch in pairwise(batches))
    if not rows:
        return None
    longest = (
        late.rows for early, late in pairwise(batches) if late.end_s - early.begin_s <= slo_s
    )
    shortest = (batch.rows for _, batch in pairwise(batches) if batch.batch_s <= slo_s)
    return sum(longest) / rows, sum(shortest) / rows


def facts(read: ApplicationLog, query: QueryLog, slo_s: float) -> dict[str, Any]:
    """Return the measurements of a query in a log, without any model."""
    batches = [event for event in query.progress if event.rows]
    tasks = [batch.tasks for batch in batches if batch.tasks]
    # Only Kafka's sources have the option that the advice about complete backlogs names.
    known = [batch for batch in batches if batch.latest and "Kafka" in "".join(batch.latest)]
    measured = arrival_curve(query.progress).measured
    skews = sorted(task.max_s / task.median_s for task in tasks if task.median_s)
    return {
        "batches": len(batches),
        "rows": sum(batch.rows for batch in batches),
        "busy_slot_hours": sum(task.busy_s for task in tasks) / 3600 if tasks else None,
        "in_time_bounds": None if measured else in_time_bounds(batches, slo_s),
        "earlier_names": query.earlier_names,
        "starts": query.starts,
        "failures": query.failures,
        "failed_tasks": read.failed_tasks,
        "skew_median": skews[len(skews) // 2] if skews else None,
        "state_bytes": batches[-1].state_bytes if batches else None,
        "state_partitions": batches[-1].state_partitions if batches else None,
        "source_partitions": batches[-1].source_partitions if batches else None,
        "gc_share": read.gc_s / read.run_s if read.run_s else None,
        "spilled_bytes": read.spilled_bytes,
        "executor_memory": read.conf.get("spark.executor.memory", "1g"),
        "trigger_s": trigger_s(batches),
        "reads_all": all(batch.ends == batch.latest for batch in known) if known else None,
        "instance_type": next(filter(None, map(read.conf.get, _INSTANCE_TYPES)), None),
        "queries_sharing": sum(_together(query, other) for other in read.queries.values()),
        "dynamic_allocation": read.conf.get("spark.dynamicAllocation.enabled") == "true",
    }
