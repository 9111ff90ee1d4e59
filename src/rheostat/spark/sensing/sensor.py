"""A live Spark application, seen: one observation per running query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rheostat.model import Observation
from rheostat.signals.lag import Offsets, lag_rows, wait_s
from rheostat.signals.latency import ArrivalCurve, mean_s
from rheostat.signals.statistics.windows import growth_per_s
from rheostat.spark.sensing.queries.in_flight import in_flight
from rheostat.spark.sensing.queries.progress import ReportedBatch, batch_of, told_trigger_s
from rheostat.spark.sensing.resource_usage import LastStages, LocalUsage, StageUsage
from rheostat.spark.sensing.rest.rest_executors import ExecutorsEndpoint, busy_share

_KEPT_POINTS = 240
# Without data Spark reports a batch every 10 s (noDataProgressEventInterval).
_IDLE_S = 10.0
_POLL_S = 15.0
"""The executors' endpoint is asked this often: 20 to 60 ms of the driver's CPU a call while its JVM
is young."""

_FIRST_POLL_S = 4.0
"""The second time it is asked so soon: shares of time take two answers."""


class LatestOffsets(Protocol):
    """Asks the broker for the next offset of each partition of topics."""

    def latest(self, topics: Sequence[str]) -> Offsets | None:
        """Return them, or None while the broker does not answer."""
        ...


@dataclass(slots=True)
class _Seen:
    """What was seen of a query so far; dropped with it."""

    batch: ReportedBatch | None = None
    trigger_s: float | None = None
    trigger_is_told: bool = True
    """Whether the interval was told from batches, and not asked for."""

    quiet_s: float = 0.0
    """When no batch ran."""

    arrivals: tuple[tuple[float, float], ...] = ()
    """(time, sum of the latest offsets): the arrival curve."""

    stages: LastStages = field(default_factory=LastStages)


class SparkSensor:
    """Reads progress (public), the executors' endpoint (public), and the broker's offsets where
    there is one.

    ``trigger_s`` and ``size`` (the executors at work, and the target in force) need private calls
    and are None in shadow mode: then the trigger is told from the batches' start times, and the
    number is the endpoint's. ``local`` tells what executors on this computer use, ``stages`` what
    only stages tell, ``receivers`` how many receivers its fleets ask for.
    """

    def __init__(
        self,
        spark: Any,
        endpoint: ExecutorsEndpoint | None,
        offsets: LatestOffsets | None,
        trigger_s: Callable[[Any], float | None],
        size: Callable[[float], tuple[int | None, int | None]] | None = None,
        local: LocalUsage | None = None,
        stages: StageUsage | None = None,
        receivers: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._spark = spark
        self._endpoint = endpoint
        self._offsets = offsets
        self._trigger_s = trigger_s
        self._size = size
        self._local = local
        self._stages = stages
        self._receivers = receivers
        self._seen: dict[str, _Seen] = {}
        self.stateful = False
        """Whether a query that was seen last has state."""
        self._polled: Observation | None = None
        self._first_start_s: float | None = None
        self._task_s: tuple[float, dict[str, float]] | None = None
        context = getattr(spark, "sparkContext", None) if endpoint is not None else None
        self._application = context.applicationId if context else None
        self._tracker = context.statusTracker() if context else None

    def observe(self, now: float) -> Sequence[Observation]:
        """Return one observation per running query; a query that has stopped is forgotten, a new
        one is picked up.
        """
        # By run, not by name: a query that was started again counts its batches and offsets anew.
        running = {str(query.runId): query for query in self._spark.streams.active}
        self._seen = {run_id: self._seen.get(run_id, _Seen()) for run_id in running}
        shared = self._executors(now)
        # Stages do not say whose they are, so with several queries the tasks cannot be told apart.
        tracker = self._tracker if len(running) == 1 else None
        seen = [
            self._query(query, self._seen[run_id], shared, tracker, now)
            for run_id, query in running.items()
        ]
        self.stateful = any(observation.state_partitions for observation in seen)
        return seen if shared.cpu is not None else _of_all(seen)

    def _executors(self, now: float) -> Observation:
        """Return what all queries share: the executors, counted at every tick where that is cheap,
        and how busy their slots were.
        """
        # The busy share is a difference: it needs a second answer, and policies wait for it.
        answered_once = (
            self._task_s is not None and self._polled is not None and self._polled.busy is None
        )
        if self._polled is None or now - self._polled.t_s >= (
            _FIRST_POLL_S if answered_once else _POLL_S
        ):
            self._polled = self._poll(now)
        # Counted at each tick, unlike the rest: a policy must see the size that it has just
        # changed.
        executors, target = self._size(now) if self._size else (self._polled.executors, None)
        return replace(
            self._polled,
            t_s=now,
            target=target,
            executors=executors,
            receivers=self._receivers(),
        )

    def _poll(self, now: float) -> Observation:
        empty = Observation(t_s=now, application=self._application)
        executors = self._endpoint.registered() if self._endpoint else None
        if executors is None:
            return empty
        if executors and self._first_start_s is None and self._endpoint:
            self._first_start_s = self._endpoint.first_start_s()
        before, self._task_s = (
            self._task_s,
            (
                now,
                {executor.id: executor.task_s for executor in executors},
            ),
        )
        return replace(
            self._local.seen(now, executors) if self._local else empty,
            application=self._application,
            executors=len(executors),
            slots_per_executor=executors[0].slots if executors else None,
            first_start_s=self._first_start_s,
            busy=busy_share(executors, before, now),
            memory_bytes=max(
                (e.peak_memory_bytes for e in executors if e.peak_memory_bytes is not None),
                default=None,
            ),
        )

    def _query(
        self, query: Any, seen: _Seen, shared: Observation, tracker: Any, now: float
    ) -> Observation:
        progress = query.lastProgress
        if progress is None:
            return replace(shared, query=query.name or str(query.id))
        batch = batch_of(progress)
        self._learn_trigger(query, batch, seen)
        latest = self._latest(batch, seen, now)
        status = query.status
        running = in_flight(status, batch, seen.trigger_s, now, tracker, seen.quiet_s)
        seen.quiet_s = now if running is None else seen.quiet_s
        awaits_data = running is None and not status.get("isDataAvailable")
        idle = awaits_data and _is_old(batch, seen.trigger_s, now)
        # The last two points only: whoever wants a mean takes it, and a lagging rate misleads the
        # rest.
        rate = growth_per_s(seen.arrivals[-2:]) if batch.committed else sum(batch.inputs.values())
        # Without a broker nothing has been measured since the last batch, and it had found no more
        # rows.
        if idle and self._offsets is None:
            rate = 0.0
        inputs = dict.fromkeys(batch.inputs, 0.0) if idle else _shared_out(batch.inputs, rate)
        rows = self._lag_rows(batch, latest, rate, now)
        first_row, end_row = (
            # Sums of offsets number the rows as the arrival curve does, whatever their partitions.
            sum(batch.committed.values()) - batch.rows,
            sum(batch.committed.values()),
        )
        observed = replace(
            shared,
            query=batch.query,
            input_rows_per_s=rate,
            inputs=inputs,
            processed_rows_per_s=None if idle else _per_s(batch.rows, batch),
            output_rows_per_s=None if idle else _per_s(batch.output_rows, batch),
            lag_rows=rows,
            lag_rows_upper=rows,  # a task of the Kafka source reads one partition: the bound is the sum  # noqa: E501
            lag_s=wait_s(rows, rate),
            latency_s=mean_s(
                ArrivalCurve(seen.arrivals).latencies(first_row, end_row, batch.commit_s)
            ),
            # 0 and not absent: that there is nothing to do is known, and lets a policy scale in.
            batch_s=0.0 if idle else batch.duration_s,
            batch_parts_s=batch.parts_s,
            batch_rows=0 if idle else batch.rows,
            trigger_s=seen.trigger_s,
            in_flight=running,
            state_rows=batch.state_rows,
            state_bytes=batch.state_bytes,
            state_partitions=batch.state_partitions,
        )
        return (
            observed
            if self._stages is None
            else self._stages.fill(observed, batch, seen.stages, idle)
        )

    def _learn_trigger(self, query: Any, batch: ReportedBatch, seen: _Seen) -> None:
        """Ask for the trigger interval at the first batch; where it cannot be asked for, tell it
        from the batches.

        Batches are multiples of the interval apart (more than one where no data came), so a much
        shorter distance is the better one.
        """
        if seen.batch is None:
            seen.trigger_s = self._trigger_s(query)
            seen.trigger_is_told = seen.trigger_s is None
        told_s = told_trigger_s(seen.batch, batch) if seen.trigger_is_told else None
        # Not any shorter one: batch starts jitter, and the interval would shrink with every tick.
        if told_s is not None and (seen.trigger_s is None or told_s < 0.6 * seen.trigger_s):
            seen.trigger_s = told_s
        seen.batch = batch

    def _latest(self, batch: ReportedBatch, seen: _Seen, now: float) -> Offsets | None:
        """Ask the broker and add a point to the arrival curve; without a broker the curve has what
        each batch was planned with.
        """
        if not batch.committed:
            return None
        if self._offsets is None:
            latest: Offsets | None = batch.latest or None
            seen_s = batch.start_s
        else:
            latest, seen_s = (
                self._offsets.latest(sorted({topic for topic, _ in batch.committed})),
                now,
            )
        # Spark repeats the last progress; a second point at one time would have an endless slope.
        if latest and (not seen.arrivals or seen_s > seen.arrivals[-1][0]):
            seen.arrivals = (*seen.arrivals, (seen_s, float(sum(latest.values()))))[-_KEPT_POINTS:]
        return latest

    def _lag_rows(
        self, batch: ReportedBatch, latest: Offsets | None, rate: float | None, now: float
    ) -> float | None:
        """Return the lag now: the broker's, or what was left at the planning of the last batch plus
        what must have arrived since.
        """
        left = lag_rows(latest, batch.committed) if latest else None
        if left is None or self._offsets is not None:
            return left
        return left + rate * (now - batch.start_s) if rate is not None else None


def _is_old(batch: ReportedBatch, trigger_s: float | None, now: float) -> bool:
    """Tell whether a batch says nothing of now: Spark repeats the last progress while no data
    come.
    """
    return now - batch.commit_s > max(_IDLE_S, 3 * (trigger_s or 0.0))


def _of_all(queries: list[Observation]) -> list[Observation]:
    """Return the queries with the CPU of all: each was seen with what its own stages used, and they
    share the executors.
    """
    known = [query.cpu for query in queries if query.cpu is not None]
    return (
        [replace(query, cpu=sum(known)) for query in queries]
        if known and len(known) == len(queries)
        else queries
    )


def _shared_out(inputs: Mapping[str, float], rate: float | None) -> Mapping[str, float]:
    """Return the arrival rate by source: shared as Spark saw them arrive; as Spark saw them where
    the rate of all is unknown.
    """
    total = sum(inputs.values())
    if rate is None or not total:
        return inputs if rate is None or len(inputs) != 1 else dict.fromkeys(inputs, rate)
    return {name: rate * per_s / total for name, per_s in inputs.items()}


def _per_s(rows: int | None, batch: ReportedBatch) -> float | None:
    return None if rows is None or batch.duration_s <= 0 else rows / batch.duration_s
