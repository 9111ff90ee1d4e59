"""The metrics of Flink's autoscaler: one sample per vertex and tick, evaluated over a window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.model import Observation, Stage
from rheostat.signals.lag import queued_rows
from rheostat.signals.statistics.windows import Columns
from rheostat.signals.true_rates import (
    busy_share,
    consumed_rows_per_s,
    in_order,
    is_known,
    job_slots,
)

IN, OUT, BUSY, LAG, OBSERVED = range(5)
"""The columns of samples that each vertex has."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A vertex: its upstream vertices (a source has none) and, if known, its partitions."""

    name: str
    upstream: tuple[str, ...] = ()
    partitions: int | None = None
    keyed: bool = False


def vertices(observation: Observation) -> tuple[Vertex, ...]:
    """Return the stages as vertices, upstream first; without stages, the job as one vertex."""
    if not observation.stages:
        # State is keyed, so its partitions limit the slots that the job can use.
        return (Vertex("job", partitions=observation.state_partitions, keyed=True),)
    names = {stage.name for stage in observation.stages}
    inner = {
        stage.name: tuple(name for name in stage.upstream if name in names)
        for stage in observation.stages
    }
    return tuple(
        Vertex(stage.name, inner[stage.name], stage.tasks, bool(inner[stage.name]))
        for stage in in_order(observation.stages)
    )


def sample(observation: Observation, graph: Iterable[Vertex]) -> dict[str, list[float | None]]:
    """Return per vertex the rows in and out per second, the busy share and, for a source, the lag
    in rows.

    Raises BadInput if one is absent; Flink itself treats an absent lag as 0.
    """
    sources = [vertex.name for vertex in graph if not vertex.upstream]
    stages = observation.stages or ()
    samples = {stage.name: _of_stage(stage, observation, sources) for stage in stages}
    if not stages:
        rate, busy = consumed_rows_per_s(observation), busy_share(observation)
        samples = {"job": [rate, None, busy, queued_rows(observation)]}
    for name, (rows_in, _, busy, lag) in samples.items():
        if not is_known(rows_in) or not is_known(busy) or (name in sources and not is_known(lag)):
            raise BadInput(f"rate, busy share or lag of {name} is unknown")
    return samples


def observed_rate(
    values: Sequence[float | None], observation: Observation, lag_threshold_s: float
) -> float | None:
    """Return rows in / (1 - backpressured share) while a source catches up; None otherwise."""
    rows_in, lag, pressed_ms = values[IN], values[LAG], observation.backpressure_ms_per_s
    if (
        not rows_in
        or lag is None
        or pressed_ms is None
        # Only a source with lag runs at full speed and therefore shows its true rate.
        or lag < lag_threshold_s * rows_in
        or pressed_ms >= 1000
    ):
        return None
    # The time in which a source waited for the next vertex is not processing time.
    return rows_in / (1 - pressed_ms / 1000)


@dataclass(frozen=True, slots=True)
class Window:
    """A window as columns: times, and per vertex rows in and out, busy share, lag, true rate."""

    times: list[float]
    columns: Columns

    def mean(self, name: str, column: int, at_least: int = 1) -> float | None:
        """Return the mean of a column; None with fewer than ``at_least`` samples."""
        return average(self.columns[name][column], at_least)

    def lag_rate(self, name: str) -> float:
        """Return the growth of the lag in rows per second between the first and the last sample."""
        first, last = self.columns[name][LAG][0] or 0.0, self.columns[name][LAG][-1] or 0.0
        return (last - first) / max(0.001, self.times[-1] - self.times[0])

    def targets(self, graph: Sequence[Vertex], catch_up_s: float) -> dict[str, tuple[float, float]]:
        """Return (target data rate, catch-up rate) in rows per second, by vertex."""
        rows_in = {vertex.name: self.mean(vertex.name, IN) or 0.0 for vertex in graph}
        targets: dict[str, tuple[float, float]] = {}
        for vertex in graph:
            if not vertex.upstream:
                # The arrival rate is the rate that was read plus the growth of the queue.
                target = max(0.0, rows_in[vertex.name] + self.lag_rate(vertex.name))
                lag = self.columns[vertex.name][LAG][-1] or 0.0
                targets[vertex.name] = target, lag / catch_up_s if catch_up_s else 0.0
                continue
            shares = {
                name: self._edge_rate(name, vertex, graph) / rows_in[name] if rows_in[name] else 0.0
                for name in vertex.upstream
            }
            target, catch_up = (
                sum(targets[name][n] * share for name, share in shares.items()) for n in (0, 1)
            )
            targets[vertex.name] = target, catch_up
        return targets

    def _edge_rate(self, upstream: str, vertex: Vertex, graph: Sequence[Vertex]) -> float:
        """Return the rows per second from ``upstream`` to ``vertex``, from the rates of both."""
        others = [name for name in vertex.upstream if name != upstream]
        # Rows are counted per vertex, not per edge. If all other inputs feed only this vertex, the
        # rest comes from this upstream.
        if all(sum(name in other.upstream for other in graph) == 1 for name in others):
            rest = sum(self.mean(name, OUT) or 0.0 for name in others)
            return max(0.0, (self.mean(vertex.name, IN) or 0.0) - rest)
        return self.mean(upstream, OUT) or 0.0


def average(values: Sequence[float | None], at_least: int = 1) -> float | None:
    """Return the mean of the known values; None if there are fewer than ``at_least``."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) >= max(1, at_least) else None


def busy_rate(rows_in: float, busy: float) -> float:
    """Return the true rate by busy time; infinite without input or busy time."""
    return rows_in / busy if rows_in > 0 and busy > 0 else math.inf


def _of_stage(stage: Stage, observation: Observation, sources: Sequence[str]) -> list[float | None]:
    interval_s = max(observation.batch_s or 0.0, observation.trigger_s or 0.0)
    slots = job_slots(observation)
    if not interval_s or not slots or stage.rows_in is None or stage.busy_s is None:
        return [None, None, None, None]
    lag: float | None = stage.pending
    if lag is None and len(sources) == 1:
        lag = queued_rows(observation)
    out = stage.rows_out / interval_s if is_known(stage.rows_out) else None
    return [
        stage.rows_in / interval_s,
        out,
        # Relative to all slots of the job, because the stages of a batch share them, unlike Flink's
        # vertices.
        stage.busy_s / (slots * interval_s),
        lag if stage.name in sources else None,
    ]
