"""The last batch of a query (Spark's progress event as a value), and its running batch.

Progress is polled (``query.lastProgress``, 0.2 ms of CPU): a ``StreamingQueryListener`` in Python
costs 25 ms of the driver's CPU per event, because every field crosses the JVM bridge separately.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import InFlight
from rheostat.signals.lag import Offsets
from rheostat.signals.rhythm import next_trigger_s
from rheostat.sources.readers import is_kafka
from rheostat.spark.sensing.rest import unix_s


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedBatch:
    """One finished micro-batch of one query."""

    query: str
    run_id: str
    batch_id: int
    start_s: float
    duration_s: float
    parts_s: Mapping[str, float]
    rows: int
    output_rows: int | None
    inputs: Mapping[str, float] | None
    """Rows per second that arrived, per source, as reported by Spark; None if not reported."""

    committed: Offsets
    """The next offset per Kafka partition after this batch; empty without Kafka."""

    latest: Offsets
    """The next offset per partition at the broker when the batch was planned."""

    state_rows: int | None
    state_bytes: int | None
    state_partitions: int | None
    rows_by_source: tuple[tuple[str, float], ...] = ()
    """The sources with the rows read from each, as counted by Spark."""
    kafka_rows: int = 0
    """The number of rows that came from Kafka."""

    @property
    def planned_s(self) -> float:
        """Unix time at which Spark requested ``latest`` from the sources."""
        return self.start_s + self.parts_s.get("latestOffset", 0.0)

    @property
    def commit_s(self) -> float:
        """Unix time at which the batch was committed."""
        return self.start_s + self.duration_s


def batch_of(progress: Any) -> ReportedBatch:
    """Return the batch of a progress event of PySpark 3.5 to 4.x (a dict), or of its JSON text.

    Raises KeyError or ValueError if the argument is not a progress event.
    """
    read: Mapping[str, Any] = json.loads(progress) if isinstance(progress, str) else progress
    parts_s = {name: ms / 1000 for name, ms in read["durationMs"].items()}
    sources, operators = read["sources"], read["stateOperators"]
    output_rows = read["sink"].get("numOutputRows")
    kafka_rows = _kafka_rows(sources)
    return ReportedBatch(
        query=read["name"] or str(read["id"]),
        run_id=str(read["runId"]),
        batch_id=read["batchId"],
        start_s=unix_s(read["timestamp"]),
        duration_s=parts_s.get("triggerExecution", 0.0),
        parts_s=parts_s,
        rows=_rows(read, kafka_rows),
        kafka_rows=int(read["numInputRows"]) if kafka_rows is None else kafka_rows,
        # Sinks that do not count their rows report -1.
        output_rows=output_rows if output_rows is not None and output_rows >= 0 else None,
        inputs=_inputs(sources),
        committed=_offsets(sources, "endOffset"),
        latest=_offsets(sources, "latestOffset"),
        state_rows=_sum(operators, "numRowsTotal"),
        state_bytes=_sum(operators, "memoryUsedBytes"),
        state_partitions=max(
            (
                int(operator["numShufflePartitions"])
                for operator in operators
                if operator.get("numShufflePartitions")
            ),
            default=None,
        ),
        rows_by_source=tuple(
            (str(source["description"]), float(source.get("numInputRows") or 0.0))
            for source in sources
        ),
    )


def _kafka_rows(sources: Any) -> int | None:
    """Count the rows by offsets if possible: numInputRows counts a retried stage twice."""
    start, end = _offsets(sources, "startOffset"), _offsets(sources, "endOffset")
    if not end or not start:
        return None
    return sum(max(0, offset - start.get(partition, 0)) for partition, offset in end.items())


def _rows(read: Mapping[str, Any], kafka_rows: int | None) -> int:
    if kafka_rows is None:
        return int(read["numInputRows"])
    others = (s for s in read["sources"] if not is_kafka(str(s["description"])))
    return kafka_rows + sum(int(source.get("numInputRows") or 0) for source in others)


def _inputs(sources: Any) -> dict[str, float] | None:
    rates = {str(source["description"]): source.get("inputRowsPerSecond") for source in sources}
    # The first batch has no interval to divide by: Spark reports rows, but a rate of 0 or none.
    unknown = any(
        not source.get("inputRowsPerSecond") and (source.get("numInputRows") or 0) > 0
        for source in sources
    )
    return None if unknown else {name: float(rate or 0.0) for name, rate in rates.items()}


def _offsets(sources: Any, which: str) -> dict[tuple[str, int], int]:
    """Return the Kafka offsets of all sources; other sources count in their own units."""
    merged: dict[tuple[str, int], int] = {}
    for source in sources:
        # Offsets of other sources may have the same form but count files or bytes.
        if not is_kafka(str(source["description"])):
            continue
        offsets = parsed_offset(source.get(which))
        if not isinstance(offsets, Mapping):
            continue
        for topic, partitions in offsets.items():
            merged.update(
                {(topic, int(partition)): int(offset) for partition, offset in partitions.items()}
            )
    return merged


def parsed_offset(offset: Any) -> Any:
    """Return an offset as JSON values: PySpark's objects hold it as text, the JSON of an event
    holds it parsed. None if the offset is absent or cannot be parsed.
    """
    if not isinstance(offset, str):
        return offset
    try:
        return json.loads(offset)
    except ValueError:  # PySpark 4.1 writes them as Python does, with single quotes
        pass
    try:
        return ast.literal_eval(offset)
    except (ValueError, SyntaxError):
        return None


def _sum(operators: Any, field: str) -> int | None:
    values = [int(operator.get(field, -1)) for operator in operators]
    # RocksDB reports -1 for each partition if it does not track its rows.
    return sum(values) if values and min(values) >= 0 else None


def reported_trigger_s(before: ReportedBatch | None, batch: ReportedBatch) -> float | None:
    """Return the trigger interval in seconds as the mean distance of two batches; None unless both
    batches ended well before the next one started.
    """
    if before is None or batch.batch_id <= before.batch_id:
        return None
    distance_s = (batch.start_s - before.start_s) / (batch.batch_id - before.batch_id)
    return distance_s if max(before.duration_s, batch.duration_s) < 0.8 * distance_s else None


def entry_of(name: str, text: str) -> tuple[str, dict[str, str]]:
    """Return the format version of an entry and the settings that it records.

    Raises BadInput, with the ``name`` of the file, if the text is not an entry.
    """
    try:
        version, metadata, *_ = text.splitlines()
        return version, {key: str(value) for key, value in json.loads(metadata)["conf"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{name} is not an entry of an offset log: its second line should be JSON with the"
            " query's conf"
        ) from None


_BATCH_MESSAGES = ("Writing offsets", "No new data but")
"""MicroBatchExecution's status messages during planning, and during a batch without data, which
closes windows.
"""


def in_flight(
    status: Mapping[str, Any],
    last: ReportedBatch | None,
    trigger_s: float | None,
    now: float,
    tracker: Any | None = None,
    quiet_s: float = 0.0,
) -> InFlight | None:
    """Return the running batch of a query from its ``StreamingQuery.status``; None between two
    batches.

    ``quiet_s`` is the Unix time at which the query was last observed without a batch: after a pause
    the batch started later than that. ``tracker`` is the application's StatusTracker, which counts
    the done and remaining tasks of the active stages; omit it if several queries run, because it
    does not attribute tasks to queries.
    """
    # Before the first progress event the start of the batch is unknown.
    if last is None or not runs_batch(status):
        return None
    elapsed_s = max(0.0, now - batch_start_s(last, trigger_s, quiet_s))
    done, left = stage_tasks(tracker) if tracker is not None else (None, None)
    return InFlight(elapsed_s=elapsed_s, tasks_done=done, tasks_left=left)


def runs_batch(status: Mapping[str, Any]) -> bool:
    """Return whether a batch runs; an idle query's active trigger only polls its sources."""
    planned = str(status.get("message", "")).startswith(_BATCH_MESSAGES)
    return bool(status.get("isTriggerActive") and (status.get("isDataAvailable") or planned))


def batch_start_s(last: ReportedBatch, trigger_s: float | None, quiet_s: float = 0.0) -> float:
    """Return the Unix time at which the batch after ``last`` started: at the end of ``last``, or at
    the next multiple of the trigger interval if that is later.

    If no batch ran at ``quiet_s``, it started after that. Source: Spark's ProcessingTimeExecutor,
    which starts batches at multiples of the interval.
    """
    if not trigger_s:
        return max(last.commit_s, quiet_s)
    return max(
        next_trigger_s(last.start_s, last.commit_s, trigger_s),
        math.ceil(quiet_s / trigger_s) * trigger_s,
    )


def stage_tasks(tracker: Any) -> tuple[int | None, int | None]:
    """Return the done and the remaining tasks of the active stages; None without active stages."""
    stages = [
        stage
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds())
        # Spark may have dropped the stage between the two calls.
        if stage is not None
    ]
    if not stages:
        return None, None
    done = sum(stage.numCompletedTasks for stage in stages)
    return done, sum(stage.numTasks for stage in stages) - done
