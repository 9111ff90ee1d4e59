"""Observes a live Spark application: one observation per running query."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rheostat.model import Observation
from rheostat.ports import Sensor
from rheostat.signals.lag import Offsets
from rheostat.spark.sensing.progress import stage_tasks
from rheostat.spark.sensing.query_tracker import QueryTracker
from rheostat.spark.sensing.resource_usage import LocalUsage, StageUsage
from rheostat.spark.sensing.rest import ExecutorsEndpoint, busy_share
from rheostat.spark.sensing.source_tracker import Readers

if TYPE_CHECKING:
    from rheostat.kafka.offsets import Offsets as Broker

_log = logging.getLogger("rheostat")
_POLL_S = 15.0
"""The polling interval of the endpoint: a young JVM takes 20 to 60 ms of CPU for a call."""

_FIRST_POLL_S = 4.0
"""The interval before the second poll, because time shares need two answers."""

ReceiverDemand = Callable[[], int | None]
"""Returns the number of receivers that a fleet's load requires; None once the fleet has ended."""

# A process-wide registry: a fleet and the sensor share only the application's id.
_fleets: dict[str, list[ReceiverDemand]] = {}


@dataclass(eq=False)
class SparkSensor(Sensor):
    """Reads progress and the executors' endpoint (both public), and the offsets of the broker, if
    any.

    ``trigger_s`` and ``committed`` (see ``QueryTracker``) need private calls; in shadow mode they
    return None. ``local`` reports the usage of executors on this computer, ``stages`` the signals
    that only stages provide, and ``receivers`` the number of receivers that the application's
    fleets need. ``broker_changed`` is called when the broker stops or starts answering, and at the
    first tick. ``readers`` returns the backlog reader of a source other than Kafka, ``real_time_s``
    the batch duration of a query in real-time mode.
    """

    spark: Any
    endpoint: ExecutorsEndpoint | None
    offsets: Broker | None
    trigger_s: Callable[[Any], float | None] = lambda _: None
    local: LocalUsage | None = None
    stages: StageUsage | None = None
    receivers: Callable[[], int | None] = lambda: None
    broker_changed: Callable[[bool, float], None] = lambda *_: None
    committed: Callable[[Any], Offsets | None] = lambda _: None
    readers: Readers = lambda *_: None
    real_time_s: Callable[[Any], float | None] = lambda _: None
    stateful: bool = field(default=False, init=False)
    """Whether a query had state at the last tick."""

    def __post_init__(self) -> None:
        self._broker_up: bool | None = None
        self._trackers: dict[str, QueryTracker] = {}
        self._polled: Observation | None = None
        self._first_start_s: float | None = None
        self._task_s: tuple[float, dict[str, float]] | None = None
        context = getattr(self.spark, "sparkContext", None) if self.endpoint is not None else None
        self._application = context.applicationId if context else None
        self._tasks = context.statusTracker() if context else None

    def observe(self, now: float) -> Sequence[Observation]:
        """Return one observation per running query."""
        # By run, not by name: a restarted query restarts its counts of batches and offsets.
        running = {str(query.runId): query for query in self.spark.streams.active}
        for run_id in self._trackers.keys() - running.keys():
            self._trackers[run_id].close()
        self._trackers = {
            run_id: self._trackers.get(run_id) or self._track(query)
            for run_id, query in running.items()
        }
        shared = self._executors(now)
        # Stages do not name their query, so with several queries tasks cannot be attributed.
        tasks = self._tasks if len(running) == 1 else None
        observations = [
            in_real_time(tracker.observe(shared, tasks, now), tracker.real_time_s, tasks)
            for tracker in self._trackers.values()
        ]
        self.stateful = any(observation.state_partitions for observation in observations)
        up = self._check_broker(any(tracker.topics for tracker in self._trackers.values()), now)
        observations = [replace(observation, broker_up=up) for observation in observations]
        return observations if shared.cpu is not None else _of_all(observations)

    def close(self) -> None:
        """Close the connections to the broker and to the sources."""
        for tracker in self._trackers.values():
            tracker.close()
        if self.offsets is not None:
            self.offsets.close()

    def _track(self, query: Any) -> QueryTracker:
        tracker = QueryTracker(
            query, self.offsets, self.trigger_s, self.committed, self.stages, self.readers
        )
        tracker.real_time_s = self._batch_s_in_real_time(query)
        return tracker

    def _batch_s_in_real_time(self, query: Any) -> float | None:
        batch_s = self.real_time_s(query)
        if batch_s is not None:
            _log.warning(
                "rheostat: query %s runs in real-time mode, in batches of %g s: its executors are"
                " not reduced while it runs",
                query.name or query.id,
                batch_s,
            )
        return batch_s

    def _check_broker(self, requested: bool, now: float) -> bool | None:
        """Return whether the broker answered now; without a need for offsets, probe it."""
        if self.offsets is None:
            return None
        if not requested:
            self.offsets.latest(())
        up = self.offsets.up
        if up is not None and up != self._broker_up:
            self.broker_changed(up, now)
        self._broker_up = up
        return up

    def _executors(self, now: float) -> Observation:
        """Return the signals that all queries share: the executors, and their slots' busy share."""
        # The busy share is a difference: it needs a second answer, and policies wait for it.
        polled = self._polled
        answered_once = self._task_s is not None and polled is not None and polled.busy is None
        interval_s = _FIRST_POLL_S if answered_once else _POLL_S
        if polled is None or now - polled.t_s >= interval_s:
            self._polled = polled = self._poll(now)
        return replace(polled, t_s=now, receivers=self.receivers())

    def _poll(self, now: float) -> Observation:
        empty = Observation(t_s=now, application=self._application)
        executors = self.endpoint.registered() if self.endpoint else None
        if executors is None:
            return empty
        if executors and self._first_start_s is None and self.endpoint:
            self._first_start_s = self.endpoint.first_start_s()
        before = self._task_s
        self._task_s = (now, {executor.id: executor.task_s for executor in executors})
        return replace(
            self.local.observe(now, executors) if self.local else empty,
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


def in_real_time(query: Observation, batch_s: float | None, tasks: Any) -> Observation:
    """Return the observation of a query in real-time mode with batches of ``batch_s`` seconds,
    whose duration does not depend on the load; unchanged with other triggers.
    """
    if batch_s is None:
        return query
    done, left = stage_tasks(tasks) if tasks is not None else (None, None)
    return replace(
        query,
        real_time_s=batch_s,
        real_time_slots=None if done is None or left is None else done + left,
        in_flight=None,
        batch_s=None,
        batch_parts_s=None,
        batch_rows=None,
        latency_s=None,
    )


def _of_all(queries: list[Observation]) -> list[Observation]:
    """Return the observations with the sum of all queries' CPU shares: each share was computed from
    the query's own stages, and the queries share the executors.
    """
    known = [query.cpu for query in queries if query.cpu is not None]
    return (
        [replace(query, cpu=sum(known)) for query in queries]
        if known and len(known) == len(queries)
        else queries
    )


def publish(application: str, demand: ReceiverDemand) -> None:
    """Register a fleet's demand for the sensor of its application."""
    _fleets.setdefault(application, []).append(demand)


def wanted_receivers(application: str) -> int | None:
    """Return the number of receivers that all fleets of an application need; None without any."""
    demands = [demand() for demand in _fleets.get(application, ())]
    known = [count for count in demands if count is not None]
    return sum(known) if known else None
