"""Turns the progress, broker offsets and checkpoint of one running query into observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rheostat.model import Observation
from rheostat.signals.lag import Offsets, lag_by_partition, lag_rows, littles_law_s
from rheostat.signals.latency import ArrivalCurve, Points, Wait, mean_s, with_point
from rheostat.signals.statistics.windows import growth_per_s
from rheostat.spark.sensing.progress import ReportedBatch, batch_of, in_flight, reported_trigger_s
from rheostat.spark.sensing.resource_usage import LastStages, StageUsage
from rheostat.spark.sensing.source_tracker import Readers, SourceTrackers, SourceView, SourceViews

if TYPE_CHECKING:
    from rheostat.kafka.offsets import Offsets as Broker

# Without data Spark reports progress every 10 s (noDataProgressEventInterval).
_IDLE_S = 10.0


@dataclass(eq=False)
class QueryTracker:
    """Observes one run of a query from tick to tick; a restarted query gets a new tracker.

    ``read_trigger_s`` and ``read_committed`` call Spark's internals: they return the trigger
    interval of a query, and the offsets in its checkpoint before its first batch has finished.
    """

    query: Any
    offsets: Broker | None
    read_trigger_s: Callable[[Any], float | None]
    read_committed: Callable[[Any], Offsets | None]
    stages: StageUsage | None
    readers: Readers

    def __post_init__(self) -> None:
        self._sources = SourceTrackers(self.query, self.readers)
        self._last_stages = LastStages()
        self._batch: ReportedBatch | None = None
        self.real_time_s: float | None = None
        """The batch duration in seconds in real-time mode; None with other triggers."""
        self._trigger_s: float | None = None
        self._trigger_is_derived = True
        """Whether the trigger interval is derived from batches: Spark does not report it."""
        self._quiet_s = 0.0
        """Unix time of the last observation without a running batch."""
        self._arrivals: Points = ()
        """The arrival curve: sums of the latest offsets."""
        self.topics: tuple[str, ...] = ()
        """The topics whose offsets are requested from the broker."""
        self._polled: Points = ()
        """The sums of the broker's offsets at the last tick and at this one; empty without any."""
        self._committed: Offsets | None = None
        """The offsets that the checkpoint had committed before the first batch finished."""

    def observe(self, shared: Observation, tasks: Any, now: float) -> Observation:
        """Return the observation of the query; ``shared`` holds the signals that all queries share,
        and ``tasks`` is Spark's status tracker, None if tasks cannot be attributed to a query.
        """
        progress = self.query.lastProgress
        if progress is None:
            return self._before_first_batch(shared, now)
        batch = batch_of(progress)
        self._learn_trigger(batch)
        latest = self._latest(batch, now)
        status = self.query.status
        running = in_flight(status, batch, self._trigger_s, now, tasks, self._quiet_s)
        self._quiet_s = now if running is None else self._quiet_s
        awaits_data = running is None and not status.get("isDataAvailable")
        # Spark repeats the last batch while no data arrives.
        old_s = max(_IDLE_S, 3 * (self._trigger_s or 0.0))
        at_rest = awaits_data and now - batch.commit_s > old_s
        # Without an answer from the broker rows may arrive unnoticed: the query is not idle.
        cut_off = bool(self.topics) and not (self.offsets and self.offsets.up)
        others = self._sources.observe(progress, batch, now)
        # A query whose source has a backlog is not at rest, whatever its last event reports.
        idle = at_rest and not cut_off and not any(view.waits for view in others)
        rate = self._rate(batch, idle)
        kafka = self._kafka_view(batch, latest, rate, now)
        sources = SourceViews.of(kafka if batch.committed else None, others)
        rate = rate if sources.rate is None else sources.rate
        rows, wait, backlog = sources.lag_rows, sources.wait, sources.backlog
        # 0 instead of None: the absence of work is known, and lets a policy scale in.
        resting_s, resting_rows = (0.0, 0) if idle else (None, None)
        observed = replace(
            shared,
            query=batch.query,
            input_rows_per_s=rate,
            inputs=_by_source(batch, rate),
            processed_rows_per_s=None if at_rest or cut_off else _per_s(batch.rows, batch),
            output_rows_per_s=None if at_rest or cut_off else _per_s(batch.output_rows, batch),
            lag_rows=rows,
            lag_by_source=sources.by_source or None,
            lag_rows_upper=rows,  # a task of the Kafka source reads one partition: the bound is the sum  # noqa: E501
            lag_s=wait.oldest_s if wait else None,
            lag_mean_s=wait.mean_s if wait else None,
            lag_littles_law_s=None if wait else littles_law_s(rows, rate),
            lag_counted=backlog.value if backlog else None,
            lag_unit=backlog.unit if backlog else None,
            latency_s=sources.latency_s,
            batch_s=resting_s if at_rest else batch.parts_s.get("triggerExecution"),
            batch_parts_s=batch.parts_s,
            batch_rows=resting_rows if at_rest else batch.rows,
            trigger_s=self._trigger_s,
            in_flight=running,
            state_rows=batch.state_rows,
            state_bytes=batch.state_bytes,
            state_partitions=batch.state_partitions,
        )
        if self.stages is None or cut_off:
            return observed
        return self.stages.fill(observed, batch, self._last_stages, idle)

    def close(self) -> None:
        """Close the readers of the query's sources."""
        self._sources.close()

    def _before_first_batch(self, shared: Observation, now: float) -> Observation:
        """Return the signals of broker and checkpoint: the arrival rate and the backlog."""
        query = self.query
        named = replace(shared, query=query.name or str(query.id))
        if self.offsets is None:
            return named
        # Retried until it succeeds: the first batch writes its start offsets when it is planned.
        self._committed = self._committed or self.read_committed(query)
        if not self._committed:
            return named
        latest = self._ask_broker(self._committed, now)
        return replace(
            named,
            input_rows_per_s=growth_per_s(self._polled),
            lag_rows=lag_rows(latest, self._committed) if latest else None,
            trigger_s=self.read_trigger_s(query),
        )

    def _learn_trigger(self, batch: ReportedBatch) -> None:
        """Read the trigger interval at the first batch; if Spark does not report it, derive it from
        the batches.

        The distance between batches is a multiple of the interval (more than one interval without
        data), so a much shorter distance is the better estimate.
        """
        if self._batch is None:
            self._trigger_s = self.read_trigger_s(self.query)
            self._trigger_is_derived = self._trigger_s is None
        reported_s = reported_trigger_s(self._batch, batch) if self._trigger_is_derived else None
        # Not any shorter distance: starts jitter, and the interval would shrink at every tick.
        if reported_s is not None and (
            self._trigger_s is None or reported_s < 0.6 * self._trigger_s
        ):
            self._trigger_s = reported_s
        self._batch = batch

    def _latest(self, batch: ReportedBatch, now: float) -> Offsets | None:
        """Request the latest offsets, and add them and those of the last batch's planning to the
        arrival curve; without a broker only the latter.
        """
        if not batch.committed:
            return None
        # The sum over a part of the partitions would be too low a point on the curve.
        if batch.latest.keys() >= batch.committed.keys():
            self._arrivals = with_point(self._arrivals, batch.planned_s, _sum(batch.latest))
        if self.offsets is None:
            return batch.latest or None
        return self._ask_broker(batch.committed, now)

    def _ask_broker(self, committed: Offsets, now: float) -> Offsets | None:
        """Request the latest offsets of the committed topics and add them to the arrival curve."""
        self.topics = tuple(sorted({topic for topic, _ in committed}))
        latest = self.offsets.latest(self.topics) if self.offsets else None
        self._polled = (*self._polled[-1:], (now, _sum(latest))) if latest else ()
        if latest:
            self._arrivals = with_point(self._arrivals, now, _sum(latest))
        return latest

    def _rate(self, batch: ReportedBatch, idle: bool) -> float | None:
        """Return the rows per second since the last tick, without a broker since the last batch."""
        if not batch.committed:
            if idle:
                return 0.0
            return sum(batch.inputs.values()) if batch.inputs else None
        # Two points only: consumers average it themselves, and a lagging rate would mislead them.
        if self.offsets:
            return growth_per_s(self._polled)
        # Without a broker nothing was measured since the last batch, which found no more rows.
        return 0.0 if idle else growth_per_s(self._arrivals[-2:])

    def _wait(
        self, batch: ReportedBatch, rows: float | None, rate: float | None, now: float
    ) -> Wait | None:
        """Return how long the uncommitted rows have waited, from the arrival curve."""
        points = self._arrivals
        if rows is None or not points:
            return None
        if self.offsets is None and rate is not None:
            # The curve ends where the last batch was planned.
            points = (*points, (now, points[-1][1] + rate * (now - batch.start_s)))
        return ArrivalCurve(points).waits(rows, now)

    def _kafka_view(
        self, batch: ReportedBatch, latest: Offsets | None, rate: float | None, now: float
    ) -> SourceView:
        """Return the view of all Kafka sources of the query together."""
        rows = self._lag_rows(batch, latest, rate, now)
        # Sums of offsets number the rows as the arrival curve does, whatever their partitions.
        end_row = sum(batch.committed.values())
        first_row = end_row - batch.kafka_rows
        spreads = ArrivalCurve(self._arrivals).latencies(first_row, end_row, batch.commit_s)
        return SourceView(
            rate=rate,
            lag_rows=rows,
            by_source=lag_by_partition(latest, batch.committed) if latest and rows else {},
            wait=self._wait(batch, rows, rate, now),
            latency_s=mean_s(spreads),
        )

    def _lag_rows(
        self, batch: ReportedBatch, latest: Offsets | None, rate: float | None, now: float
    ) -> float | None:
        """Return the broker's lag, or that at the last batch's planning plus expected arrivals."""
        left = lag_rows(latest, batch.committed) if latest else None
        if left is None or self.offsets is not None:
            return left
        return left + rate * (now - batch.start_s) if rate is not None else None


def _sum(offsets: Offsets) -> float:
    return float(sum(offsets.values()))


def _by_source(batch: ReportedBatch, rate: float | None) -> Mapping[str, float] | None:
    """Return the arrival rate by source, as Spark read from each; None if unknown."""
    shares = batch.inputs or dict(batch.rows_by_source)
    total = sum(shares.values())
    if rate is None or (not total and rate and len(shares) > 1):
        return None
    return {name: rate * share / total if total else rate for name, share in shares.items()}


def _per_s(rows: int | None, batch: ReportedBatch) -> float | None:
    return None if rows is None or batch.duration_s <= 0 else rows / batch.duration_s
