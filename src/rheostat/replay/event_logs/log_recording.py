"""A query of an event log as observations, with the columns that recordings and journals have."""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rheostat.model import InFlight, Observation, Stage
from rheostat.replay.event_logs.application_log import ApplicationLog, Progress, QueryLog, Tasks
from rheostat.replay.validate import Moment

_ROWS = 0.9
"""Of the batches whose offsets advance by their number of rows; then offsets count rows."""

_ALIGNED_S = 0.05
"""Distance of a batch's start from a multiple of the trigger interval that counts as none."""

_INTERVALS_S = (0.5, *map(float, (1, 2, 3, 4, 5, 6, 10, 15, 20, 30, 60, 120, 300, 600)))
"""Trigger intervals that people configure."""

_MOST = 0.8
"""Share of the batches that waited which begin at a multiple of the interval."""

_FEWEST_WAITED = 5


@dataclass(frozen=True, slots=True)
class Sizes:
    """Registered executors and cores over time."""

    times_s: tuple[float, ...]
    counts: tuple[int, ...]
    slots_per_executor: int
    requested_s: tuple[float, ...] = ()
    """When executors were requested, as far as that is recorded."""

    registered_s: tuple[float, ...] = ()
    """When the requested ones registered."""

    @classmethod
    def of(cls, log: ApplicationLog) -> Sizes:
        """Return the sizes of an application; in local mode the driver is its one executor."""
        cores: dict[str, int] = {}
        times_s, counts, sizes = [], [], []
        is_local = {executor for _, executor, _ in log.executors} == {"driver"}
        requests = [(requested_s, "", 0) for requested_s, _ in log.requests]
        for at_s, executor, count in sorted([*log.executors, *requests]):
            if executor == "driver" and not is_local:
                continue
            if count:
                cores[executor] = count
                sizes.append(count)
            else:
                cores.pop(executor, None)
            times_s.append(at_s)
            counts.append(len(cores))
        per_task = int(log.conf.get("spark.task.cpus", "1") or 1)
        usual = int(statistics.median(sizes)) if sizes else 1
        return cls(
            tuple(times_s),
            tuple(counts),
            max(1, usual // per_task),
            tuple(sorted(requested_s for requested_s, _ in log.requests)),
            tuple(sorted(registered_s for _, registered_s in log.requests)),
        )

    def changes(self, after_s: float, before_s: float) -> Iterator[float]:
        """Yield the times of changes between two times that leave an executor."""
        first, end = bisect_right(self.times_s, after_s), bisect_left(self.times_s, before_s)
        for index in range(first, end):
            if self.counts[index]:
                yield self.times_s[index]

    def at(self, t_s: float) -> int | None:
        """Return the executors at a time, None before the first registered."""
        index = bisect_right(self.times_s, t_s)
        return self.counts[index - 1] if index else None

    def target(self, t_s: float) -> int | None:
        """Return the executors at a time and those requested and not registered by then; None where
        no request is recorded.
        """
        size = self.at(t_s)
        if size is None or not self.requested_s:
            return None
        return size + bisect_right(self.requested_s, t_s) - bisect_right(self.registered_s, t_s)


@dataclass(frozen=True, slots=True)
class ArrivalCurve:
    """Rows that have arrived, by time, linear between two looks at the sources."""

    times_s: np.ndarray
    rows: np.ndarray
    committed: tuple[float, ...]
    """Rows that are committed after each progress event."""

    measured: bool
    """Whether it comes from the sources' latest offsets; else from the rows of each batch, so that
    what waits beyond a limit of rows is not known."""

    def at(self, t_s: float) -> float:
        """Return the rows that have arrived by a time."""
        return float(np.interp(t_s, self.times_s, self.rows))

    def mean_arrival_s(self, first: float, last: float) -> float:
        """Return the mean arrival time of the rows from ``first`` to ``last``."""
        return float(np.interp(np.linspace(first, last, 21), self.rows, self.times_s).mean())


def arrival_curve(progress: Sequence[Progress]) -> ArrivalCurve:
    """Return the arrivals that progress events show.

    A source counts by its offsets where these advance by its rows, as Kafka's do, and by the rows
    that it delivered otherwise.
    """
    sources = sorted({name for event in progress for name in event.source_rows})
    by_offsets = {name for name in sources if _counts_rows(progress, name)}
    first = {
        name: next((p.starts[name] for p in progress if name in p.starts), 0.0) for name in sources
    }
    total = dict.fromkeys(sources, 0.0)
    available = dict(total)
    times_s, rows, committed = [], [], []
    for event in progress:
        for name in sources:
            total[name] += event.source_rows.get(name, 0)
            if name in by_offsets and name in event.latest:
                available[name] = event.latest[name] - first[name]
            elif name not in by_offsets:
                available[name] = total[name]
        times_s.append(event.looked_s)
        rows.append(sum(available.values()))
        committed.append(sum(total.values()))
    # A late look never shows fewer rows: a partition that moved back would arrive a second time.
    rising = np.maximum.accumulate(np.array(rows, dtype=float))
    return ArrivalCurve(
        np.array(times_s), rising, tuple(committed), bool(sources) and by_offsets == set(sources)
    )


def _counts_rows(progress: Sequence[Progress], source: str) -> bool:
    """Tell whether the offsets of a source advance by the number of its rows."""
    batches = [
        event
        for event in progress
        if event.source_rows.get(source) and source in event.starts and source in event.ends
    ]
    equal = sum(
        event.ends[source] - event.starts[source] == event.source_rows[source] for event in batches
    )
    known = any(source in event.latest for event in batches)
    return known and bool(batches) and equal >= _ROWS * len(batches)


def trigger_s(batches: Sequence[Progress]) -> float:
    """Return the trigger interval, 0 where batches run back to back; logs do not contain it.

    A batch that has waited begins at a multiple of the interval. Source: Spark's
    ``ProcessingTimeExecutor``.
    """
    waited = [
        late.begin_s for early, late in pairwise(batches) if late.begin_s - early.end_s > _ALIGNED_S
    ]
    if len(waited) < _FEWEST_WAITED:
        return 0.0
    for interval_s in sorted(_INTERVALS_S, reverse=True):
        # The largest: every multiple of a day is one of a second, too.
        off = [abs((at_s + interval_s / 2) % interval_s - interval_s / 2) for at_s in waited]
        if np.mean(np.array(off) <= _ALIGNED_S) >= _MOST:
            return interval_s
    return 0.0


def query_name(log: ApplicationLog, query: QueryLog) -> str:
    """Return the name of a query, with its id where it has none or another query has the same."""
    names = [other.name for other in log.queries.values()]
    if query.name is None:
        return query.query[:8]
    return query.name if names.count(query.name) == 1 else f"{query.name}-{query.query[:8]}"


def moments(log: ApplicationLog, query: QueryLog, since_s: float = 0.0) -> list[Moment]:
    """Return the observations of a query: one at the end of each batch, at each look without rows,
    and at each change of the executors.
    """
    progress = [event for event in query.progress if event.begin_s >= since_s]
    if not progress:
        return []
    sizes, curve = Sizes.of(log), arrival_curve(progress)
    name = f"{log.application}/{query_name(log, query)}"
    interval_s = trigger_s([event for event in progress if event.rows])
    observations = _observations(progress, _View(sizes, interval_s), curve)
    rising: list[Moment] = []
    for observation in observations:
        if not rising or observation.t_s > rising[-1].observation.t_s:
            where = f"{name}, {observation.t_s:.3f}"
            rising.append(Moment(where, _named(observation, rising, curve, name)))
    return rising


@dataclass(frozen=True, slots=True)
class _View:
    """What all observations of a query share."""

    sizes: Sizes
    interval_s: float

    def observation(
        self,
        t_s: float,
        batch: Progress,
        lag: float,
        latency_s: float | None,
        running: InFlight | None,
    ) -> Observation:
        """Return what would have been observed at a time, the last batch being ``batch``."""
        slots = (self.sizes.at(t_s) or 0) * self.sizes.slots_per_executor
        busy_s = batch.tasks.busy_s if batch.tasks else None
        paid_s = slots * batch.batch_s
        return Observation(
            t_s=t_s,
            executors=self.sizes.at(t_s),
            target=self.sizes.target(t_s),
            slots_per_executor=self.sizes.slots_per_executor,
            lag_rows=max(0.0, lag),
            latency_s=latency_s,
            busy=min(1.0, busy_s / paid_s) if busy_s is not None and paid_s else None,
            batch_s=batch.batch_s,
            batch_parts_s=batch.parts_s,
            batch_rows=batch.rows,
            trigger_s=self.interval_s,
            in_flight=running,
            state_rows=batch.state_rows,
            state_bytes=batch.state_bytes,
            state_partitions=batch.state_partitions,
            stages=(_stage(batch.tasks),) if batch.tasks else None,
        )


def _observations(
    progress: Sequence[Progress], view: _View, curve: ArrivalCurve
) -> Iterator[Observation]:
    latency_s: float | None = None
    batch: Progress | None = None
    done, before_s = 0.0, progress[0].begin_s
    for event, committed in zip(progress, curve.committed, strict=True):
        if batch is not None:
            for at_s in view.sizes.changes(before_s, event.end_s):
                running = _in_flight(event, at_s)
                yield view.observation(at_s, batch, curve.at(at_s) - done, latency_s, running)
        if event.rows:
            mean_s = curve.mean_arrival_s(done, committed)
            batch, done = event, committed
            latency_s = event.end_s - mean_s if curve.measured else None
        if batch is not None and view.sizes.at(event.end_s):
            starting = _in_flight(batch, batch.begin_s) if event.rows else None
            lag = curve.at(event.end_s) - done
            yield view.observation(event.end_s, batch, lag, latency_s, starting)
        before_s = event.end_s


def _stage(tasks: Tasks) -> Stage:
    """Return all tasks of a batch as one stage."""
    return Stage(
        name="all",
        busy_s=tasks.busy_s,
        tasks=tasks.count,
        task_max_s=tasks.max_s,
        task_median_s=tasks.median_s,
    )


def _in_flight(event: Progress, t_s: float) -> InFlight | None:
    """Return the batch that runs at a time, if it does."""
    if not event.rows or t_s < event.begin_s:
        return None
    tasks = event.tasks.count if event.tasks else None
    return InFlight(elapsed_s=t_s - event.begin_s, rows=event.rows, tasks_done=0, tasks_left=tasks)


def _named(
    observation: Observation, before: Sequence[Moment], curve: ArrivalCurve, name: str
) -> Observation:
    """Return an observation with its name and the arrival rate since the one before it."""
    rate = None
    if before:
        early_s = before[-1].observation.t_s
        rows = curve.at(observation.t_s) - curve.at(early_s)
        rate = rows / (observation.t_s - early_s)
    return replace(observation, application=name, input_rows_per_s=rate)
