"""The autoscaler of Flink's Kubernetes operator: target capacity over true rate, with catch-up,
restart time and patience.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.about import About
from rheostat.policies.rates.flink_capacity import (
    Demand,
    aligned,
    is_ineffective,
    scaled,
    true_rate,
    with_demand,
)
from rheostat.policies.rates.flink_metrics import (
    BUSY,
    IN,
    LAG,
    OBSERVED,
    Vertex,
    Window,
    average,
    busy_rate,
    observed_rate,
    sample,
    vertices,
)
from rheostat.policies.rates.flink_parameters import FlinkParameters
from rheostat.policies.reason_text import counted
from rheostat.policies.sample_order import in_order
from rheostat.signals.statistics.sample_columns import extended
from rheostat.signals.true_rates import executors_for, job_slots


@dataclass(frozen=True, slots=True)
class _Demand:
    """What one vertex asks for, and between which capacities it would be left alone."""

    vertex: str
    size: int
    target: float
    rate: float
    up_below: float
    down_above: float

    @property
    def outside(self) -> bool:
        return self.rate < self.up_below or self.rate > self.down_above


@dataclass(frozen=True, slots=True)
class Flink(FlinkParameters):
    """p' = ceil(p x capacity(utilization_target) / true rate), if the true rate is out of bounds;
    the largest vertex decides.

    capacity(u) = lag / catch_up + target x restart / catch_up + target / u. All samples are
    forgotten when the size changes; decisions begin after the stabilization interval and a full
    window. Scaling in waits for an hour and then takes the largest size that was wished for in it.
    Left out: per-vertex parallelism (executors are uniform), memory tuning, quotas, restart-time
    tracking, observed scalability.
    """

    about: ClassVar[About] = About(
        formula=(
            "capacity(u) = catch-up rate + target rate x restart_time_s / catch_up_duration_s +"
            " target rate / u\ntarget rate = mean rows in + growth of the lag; catch-up rate = lag"
            " / catch_up_duration_s; true rate = rows in / busy\nslots = ceil(p x"
            " clamp(capacity(utilization_target) / true rate, 1 - down factor, 1 + up factor)),"
            " aligned with partitions\nonly if true rate < capacity(max, no restart) or >"
            " capacity(min); in: the largest wish of scale_down_interval_s"
        ),
        source=(
            "Apache Flink Kubernetes Operator, module flink-autoscaler (JobAutoScalerImpl,"
            " ScalingMetricEvaluator, JobVertexScaler)"
        ),
        fails_when=(
            "load moves faster than its 20 minutes of blindness after every change, or stages take"
            " turns on the same slots"
        ),
        steady=Observation(
            t_s=0.0,
            executors=4,
            slots_per_executor=1,
            input_rows_per_s=3000.0,
            processed_rows_per_s=3000.0,
            busy=0.7,
            lag_rows=0.0,
            lag_s=0.0,
            backpressure_ms_per_s=0.0,
        ),
    )

    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Collect, evaluate, decide: return the executors of the largest vertex once the window is
        full.
        """
        now, p = observation.t_s, job_slots(observation)
        if p is None:
            return hold(observation, "size kept: the executors are unknown"), memory
        try:
            graph = vertices(observation)
            seen = self._collect(observation, graph, memory, p)
        except BadInput as wrong:
            return hold(observation, f"size kept: {wrong}"), memory
        # Blind after each change for the stabilization interval and a full window, as Flink is.
        if now < seen.get("full_s", math.inf) or len(seen["times"]) < 2:
            return (
                hold(
                    observation,
                    f"metrics window is not full: {now - seen['since_s']:.0f} s since the last"
                    " change of size",
                ),
                seen,
            )
        window = Window(seen["times"], seen["columns"])
        wanted, backlog = window.targets(graph, self.catch_up_duration_s), self._is_backlog(window)
        wishes = [self._wish(vertex, window, wanted[vertex.name], backlog, p) for vertex in graph]
        # Executors are shared by all vertices here, so the one that needs most decides.
        largest = max(wishes, key=lambda wish: wish.size)
        size, outside, why = self._patient(largest.size, self._outside(wishes, p), p, now, seen)
        if why or not outside:
            return (
                hold(observation, why or "true rate within its bounds", _evidence(largest, p)),
                seen,
            )
        return self._act(observation, largest, size, p, seen)

    def _act(
        self, observation: Observation, largest: _Demand, size: int, p: int, seen: dict[str, Any]
    ) -> tuple[Decision, Memory]:
        up, evidence = seen.get("up"), _evidence(largest, p)
        if (
            up
            # Only where the step is the one that stands: another size says nothing of it.
            and up["slots"] == p
            and size > p
            and is_ineffective(
                largest.rate, up["rate"], up["expected"], self.effectiveness_threshold
            )
        ):
            # Told in any case, as Flink raises an event; it blocks only where that is switched on.
            evidence["ineffective"] = "the last step out did not help"
            if self.effectiveness_detection:
                return (
                    hold(observation, "size kept: the last step out did not help", evidence),
                    seen,
                )
        target = executors_for(size, observation)
        reason = (
            f"{largest.vertex} must process {largest.target:,.0f} rows/s and can do"
            f" {largest.rate:,.0f} with {counted(p, 'slot')}: {counted(size, 'slot')} needed"
        )
        finite = size > p and math.isfinite(largest.rate)
        acted = (
            {"slots": size, "rate": largest.rate, "expected": largest.rate / p * size}
            if finite
            else None
        )
        return Decision(target=target, reason=reason, evidence=evidence), {**seen, "up": acted}

    def _collect(
        self, observation: Observation, graph: Sequence[Vertex], memory: Memory, p: int
    ) -> dict[str, Any]:
        """Add a sample; a change of size or graph, or a clock that was put back, begins a new
        history.
        """
        now, names = observation.t_s, [vertex.name for vertex in graph]
        values = sample(observation, graph)
        # Samples of another parallelism would be divided by the wrong number of slots.
        same = (
            memory.get("slots") == p and memory.get("names") == names and memory["times"][-1] <= now
        )
        fresh: dict[str, Any] = {
            "slots": p,
            "names": names,
            "since_s": now,
            "wishes": [],
            "up": memory.get("up"),
        }
        seen = (
            dict(memory)
            if same
            else {**fresh, "times": [], "columns": {name: [[]] * 5 for name in names}}
        )
        for name, row in values.items():
            rate = observed_rate(row, observation, self.observed_lag_threshold_s)
            earlier = seen["columns"][name][OBSERVED]
            row.append(
                # Flink keeps the mean of earlier observations while the vertex is not catching up.
                rate if rate is not None else average(earlier, self.observed_min_observations)
            )
        seen["times"], seen["columns"] = extended(
            seen["times"], seen["columns"], now, values, self.metrics_window_s
        )
        if now >= seen["since_s"] + self.stabilization_interval_s:
            # Set once: the window must be full of samples from after the stabilization.
            seen.setdefault("full_s", now + self.metrics_window_s)
        return seen

    def _wish(
        self, vertex: Vertex, window: Window, wanted: tuple[float, float], backlog: bool, p: int
    ) -> _Demand:
        """Return what a vertex asks for: its size by the target capacity over its true rate."""
        name, demand = vertex.name, Demand(*wanted, self.catch_up_duration_s, self.restart_time_s)
        by_busy = busy_rate(window.mean(name, IN) or 0.0, window.mean(name, BUSY) or 0.0)
        rate = true_rate(
            by_busy,
            window.mean(name, OBSERVED, self.observed_min_observations),
            self.observed_switch_threshold,
        )
        target = demand.capacity(self.utilization_target, with_restart=True)
        size = scaled(p, target, rate, self.scale_down_max_factor, self.scale_up_max_factor)
        partitions, most = self.partitions or vertex.partitions, max(p, self.vertex_max_parallelism)
        # Key groups bound a keyed vertex; a source with idle subtasks still runs.
        most = min(most, vertex.partitions) if vertex.keyed and vertex.partitions else most
        size = min(max(size, min(p, self.vertex_min_parallelism)), most)
        return _Demand(
            vertex=name,
            size=aligned(size, p, partitions, most, self.alignment) if partitions else size,
            target=target,
            rate=rate,
            # While a backlog is worked off, no utilization is too low and only a full one too high.
            up_below=demand.capacity(
                1.0 if backlog else self.highest_utilization, with_restart=False
            ),
            down_above=demand.capacity(
                0.0 if backlog else self.lowest_utilization, with_restart=True
            ),
        )

    def _outside(self, wishes: Sequence[_Demand], p: int) -> bool:
        """Tell whether a vertex is out of its bounds; one that keeps its size does not count, nor
        one whose shrinking is to wait.
        """
        grows = any(wish.size > p for wish in wishes)
        waits = grows and self.scale_down_interval_s > 0
        return any(
            wish.outside for wish in wishes if wish.size > p or (wish.size < p and not waits)
        )

    def _patient(
        self, size: int, outside: bool, p: int, now: float, seen: dict[str, Any]
    ) -> tuple[int, bool, str]:
        """Return the size, whether it is called for, and why not yet: fewer slots must be wished
        for an hour; the largest wish counts.
        """
        # Any wish not to shrink clears the hour, as in Flink's delayed scale down.
        if size >= p:
            seen.update(wishes=[], wished_s=None)
            return size, outside, "" if size > p else "true rate fits the size"
        if self.scale_down_interval_s == 0:
            return size, outside, ""
        began_s = seen["wished_s"] if seen.get("wished_s") is not None else now
        wishes = with_demand(seen["wishes"], now, size, outside, self.scale_down_interval_s)
        seen.update(wishes=wishes, wished_s=began_s)
        # The first of the falling row is the largest wish of the hour.
        waited_s, (_, largest, called_for) = now - began_s, wishes[0]
        return (
            largest,
            called_for,
            (
                f"size kept: {counted(size, 'slot')} would do, so far for {waited_s:.0f} of"
                f" {self.scale_down_interval_s:.0f} s"
                if waited_s < self.scale_down_interval_s
                else ""
            ),
        )

    def _is_backlog(self, window: Window) -> bool:
        """Tell whether a source has more lag than it reads in the threshold: it then works off a
        backlog and must not shrink.
        """
        for name, columns in window.columns.items():
            lag, rate = columns[LAG][-1], window.mean(name, IN) or 0.0
            if (
                lag is not None
                and rate > 0
                and lag / rate > self.backlog_processing_lag_threshold_s
            ):
                return True
        return False


def _evidence(wish: _Demand, p: int) -> dict[str, float | int | str | None]:
    numbers = {
        "target_capacity": wish.target,
        "true_rate": wish.rate,
        "up_below": wish.up_below,
        "down_above": wish.down_above,
    }
    return {
        "slots": p,
        "wished": wish.size,
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
    }
