"""A live Spark application as observations: one per running query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rheostat.model import Observation
from rheostat.signals.arrival_points import Points, with_point
from rheostat.signals.lag import Offsets, lag_rows, littles_law_s
from rheostat.signals.latency import ArrivalCurve, Wait, mean_s
from rheostat.signals.statistics.windows import growth_per_s
from rheostat.spark.sensing.queries.in_flight import in_flight
from rheostat.spark.sensing.queries.progress import ReportedBatch, batch_of, reported_trigger_s
from rheostat.spark.sensing.resource_usage import LastStages, LocalUsage, StageUsage
from rheostat.spark.sensing.rest.rest_executors import ExecutorsEndpoint, busy_share

# Without data Spark reports a batch every 10 s (noDataProgressEventInterval).
_IDLE_S = 10.0
_POLL_S = 15.0
"""The executors' endpoint is asked this often: 20 to 60 ms of the driver's CPU a call while its JVM
is young."""

_FIRST_POLL_S = 4.0
"""The second time it is asked so soon: shares of time take two answers."""


class LatestOffsets(Protocol):
    """Asks the broker for the next offset of each partition of topics."""

    @property
    def up(self) -> bool | None:
        """Whether the broker answered the last request; None before the first."""
        ...

    def latest(self, topics: Sequence[str]) -> Offsets | None:
        """Return the offsets; None where one is unknown. Without topics only ``up`` is updated."""
        ...


@dataclass(slots=True)
class _QueryState:
    """What was seen of a query so far; dropped with it."""

    batch: ReportedBatch | None = None
    trigger_s: float | None = None
    trigger_is_reported: bool = True
    """Whether the interval was told from batches, and not asked for."""

    quiet_s: float = 0.0
    """When no batch ran."""

    arrivals: Points = ()
    """The arrival curve: sums of the latest offsets."""

    topics: tuple[str, ...] = ()
    """What the broker is asked for."""

    polled: Points = ()
    """The broker's sums at the last tick and at this one, as far as it answered."""

    committed: Offsets | None = None
    """What its checkpoint had committed before its first batch finished."""

    stages: LastStages = field(default_factory=LastStages)


class SparkSensor:
    """Reads progress (public), the executors' endpoint (public), and the broker's offsets where
    there is one.

    ``trigger_s`` and ``size`` (the executors at work, and the target in force) need private calls
    and are None in shadow mode: then the trigger is told from the batches' start times, and the
    number is the endpoint's. ``local`` tells what executors on this computer use, ``stages`` what
    only stages tell, ``receivers`` how many receivers its fleets ask for. ``broker_changed`` is
    called when the broker stops or starts answering, and at the first tick. ``committed`` reads the
    offsets that a query has committed from its checkpoint, before its first batch has finished.
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
        broker_changed: Callable[[bool, float], None] = lambda *_: None,
        committed: Callable[[Any], Offsets | None] = lambda _: None,
    ) -> None:
        self._committed = committed
        self._spark = spark
        self._endpoint = endpoint
        self._offsets = offsets
        self._trigger_s = trigger_s
        self._size = size
        self._local = local
        self._stages = stages
        self._receivers = receivers
        self._broker_changed = broker_changed
        self._broker_up: bool | None = None
        self._states: dict[str, _QueryState] = {}
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
        self._states = {run_id: self._states.get(run_id, _QueryState()) for run_id in running}
        shared = self._executors(now)
        # Stages do not say whose they are, so with several queries the tasks cannot be told apart.
        tracker = self._tracker if len(running) == 1 else None
        observations = [
            self._query(query, self._states[run_id], shared, tracker, now)
            for run_id, query in running.items()
        ]
        self.stateful = any(observation.state_partitions for observation in observations)
        up = self._check_broker(any(state.topics for state in self._states.values()), now)
        observations = [replace(observation, broker_up=up) for observation in observations]
        return observations if shared.cpu is not None else _of_all(observations)

    def _check_broker(self, requested: bool, now: float) -> bool | None:
        """Return whether the broker answered at this tick; it is asked for nothing but an answer
        where no query has needed its offsets.
        """
        if self._offsets is None:
            return None
        if not requested:
            self._offsets.latest(())
        up = self._offsets.up
        if up is not None and up != self._broker_up:
            self._broker_changed(up, now)
        self._broker_up = up
        return up

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
            self._local.observe(now, executors) if self._local else empty,
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
        self, query: Any, state: _QueryState, shared: Observation, tracker: Any, now: float
    ) -> Observation:
        progress = query.lastProgress
        if progress is None:
            return self._before_first_batch(query, state, shared, now)
        batch = batch_of(progress)
        self._learn_trigger(query, batch, state)
        latest = self._latest(batch, state, now)
        status = query.status
        running = in_flight(status, batch, state.trigger_s, now, tracker, state.quiet_s)
        state.quiet_s = now if running is None else state.quiet_s
        awaits_data = running is None and not status.get("isDataAvailable")
        at_rest = awaits_data and _is_old(batch, state.trigger_s, now)
        # While the broker is away nobody knows whether rows arrive: a query at rest is not idle.
        cut_off = bool(state.topics) and not (self._offsets and self._offsets.up)
        idle = at_rest and not cut_off
        rate = self._rate(batch, state, idle)
        rows = self._lag_rows(batch, latest, rate, now)
        wait = self._wait(batch, state, rows, rate, now)
        first_row, end_row = (
            # Sums of offsets number the rows as the arrival curve does, whatever their partitions.
            sum(batch.committed.values()) - batch.rows,
            sum(batch.committed.values()),
        )
        observed = replace(
            shared,
            query=batch.query,
            input_rows_per_s=rate,
            inputs=_by_source(batch, rate),
            processed_rows_per_s=None if at_rest or cut_off else _per_s(batch.rows, batch),
            output_rows_per_s=None if at_rest or cut_off else _per_s(batch.output_rows, batch),
            lag_rows=rows,
            lag_rows_upper=rows,  # a task of the Kafka source reads one partition: the bound is the sum  # noqa: E501
            lag_s=wait.oldest_s if wait else None,
            lag_mean_s=wait.mean_s if wait else None,
            lag_littles_law_s=None if wait else littles_law_s(rows, rate),
            latency_s=mean_s(
                ArrivalCurve(state.arrivals).latencies(first_row, end_row, batch.commit_s)
            ),
            # 0 and not absent: that there is nothing to do is known, and lets a policy scale in.
            batch_s=batch.parts_s.get("triggerExecution") if not at_rest else 0.0 if idle else None,
            batch_parts_s=batch.parts_s,
            batch_rows=batch.rows if not at_rest else 0 if idle else None,
            trigger_s=state.trigger_s,
            in_flight=running,
            state_rows=batch.state_rows,
            state_bytes=batch.state_bytes,
            state_partitions=batch.state_partitions,
        )
        return (
            observed
            if self._stages is None or cut_off
            else self._stages.fill(observed, batch, state.stages, idle)
        )

    def _before_first_batch(
        self, query: Any, state: _QueryState, shared: Observation, now: float
    ) -> Observation:
        """Return what the broker and the checkpoint tell: how many rows arrive, and how many are
        in the backlog.
        """
        named = replace(shared, query=query.name or str(query.id))
        if self._offsets is None:
            return named
        # Read until it is there: the first batch of all writes where it starts when it is planned.
        state.committed = state.committed or self._committed(query)
        if not state.committed:
            return named
        latest = self._ask_broker(state.committed, state, now)
        return replace(
            named,
            input_rows_per_s=growth_per_s(state.polled),
            lag_rows=lag_rows(latest, state.committed) if latest else None,
            trigger_s=self._trigger_s(query),
        )

    def _learn_trigger(self, query: Any, batch: ReportedBatch, state: _QueryState) -> None:
        """Ask for the trigger interval at the first batch; where it cannot be asked for, tell it
        from the batches.

        Batches are multiples of the interval apart (more than one where no data came), so a much
        shorter distance is the better one.
        """
        if state.batch is None:
            state.trigger_s = self._trigger_s(query)
            state.trigger_is_reported = state.trigger_s is None
        reported_s = reported_trigger_s(state.batch, batch) if state.trigger_is_reported else None
        # Not any shorter one: batch starts jitter, and the interval would shrink with every tick.
        if reported_s is not None and (
            state.trigger_s is None or reported_s < 0.6 * state.trigger_s
        ):
            state.trigger_s = reported_s
        state.batch = batch

    def _latest(self, batch: ReportedBatch, state: _QueryState, now: float) -> Offsets | None:
        """Ask the broker, and add to the arrival curve what it answers and what the last batch was
        planned with; without a broker only the latter.
        """
        if not batch.committed:
            return None
        # A part of the partitions would be a lower point than the curve's others.
        if batch.latest.keys() >= batch.committed.keys():
            state.arrivals = with_point(state.arrivals, batch.planned_s, _sum(batch.latest))
        if self._offsets is None:
            return batch.latest or None
        return self._ask_broker(batch.committed, state, now)

    def _ask_broker(self, committed: Offsets, state: _QueryState, now: float) -> Offsets | None:
        """Ask for the latest offsets of the committed topics, and add them to the arrival curve."""
        state.topics = tuple(sorted({topic for topic, _ in committed}))
        latest = self._offsets.latest(state.topics) if self._offsets else None
        state.polled = (*state.polled[-1:], (now, _sum(latest))) if latest else ()
        if latest:
            state.arrivals = with_point(state.arrivals, now, _sum(latest))
        return latest

    def _rate(self, batch: ReportedBatch, state: _QueryState, idle: bool) -> float | None:
        """Return the rows per second that arrived since the last tick; without a broker those
        between the last two batches.
        """
        if not batch.committed:
            return 0.0 if idle else sum(batch.inputs.values()) if batch.inputs else None
        # Two points only: who needs a mean takes it, and a rate that lags misleads the others.
        if self._offsets:
            return growth_per_s(state.polled)
        # Nothing was measured since the last batch, and it had found no more rows.
        return 0.0 if idle else growth_per_s(state.arrivals[-2:])

    def _wait(
        self,
        batch: ReportedBatch,
        state: _QueryState,
        rows: float | None,
        rate: float | None,
        now: float,
    ) -> Wait | None:
        """Return how long the rows have waited that are not committed, by the arrival curve."""
        points = state.arrivals
        if rows is None or not points:
            return None
        if self._offsets is None and rate is not None:
            # The curve ends where the last batch was planned.
            points = (*points, (now, points[-1][1] + rate * (now - batch.start_s)))
        return ArrivalCurve(points).waits(rows, now)

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


def _sum(offsets: Offsets) -> float:
    return float(sum(offsets.values()))


def _by_source(batch: ReportedBatch, rate: float | None) -> Mapping[str, float] | None:
    """Return the arrival rate by source, in proportion to what Spark read of each; None where
    either is unknown.
    """
    shares = batch.inputs or dict(batch.rows_by_source)
    total = sum(shares.values())
    if rate is None or (not total and rate and len(shares) > 1):
        return None
    return {name: rate * share / total if total else rate for name, share in shares.items()}


def _per_s(rows: int | None, batch: ReportedBatch) -> float | None:
    return None if rows is None or batch.duration_s <= 0 else rows / batch.duration_s
