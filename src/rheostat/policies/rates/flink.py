"""Flink's operator autoscaler: target capacity over true rate, with catch-up and restart time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About
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
from rheostat.policies.sample_order import in_order
from rheostat.signals.statistics.windows import extended
from rheostat.signals.true_rates import executors_for, job_slots


@dataclass(frozen=True, slots=True)
class _Demand:
    """The size that one vertex requires, and the true rates between which it remains unchanged."""

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
    """p' = ceil(p x capacity(utilization_target) / true rate) if the true rate is out of bounds;
    the largest vertex decides.

    capacity(u) = lag / catch_up + target x restart / catch_up + target / u. A change of size
    discards all samples; decisions resume after the stabilization interval and a full window.
    Scaling in waits for an hour and then uses the largest recommendation of that hour. Omitted:
    per-vertex parallelism (executors are uniform), memory tuning, quotas, restart-time tracking,
    observed scalability.
    """

    about: ClassVar[About] = About(
        formula=(
            "capacity(u) = catch-up rate + target rate x restart_time_s / catch_up_duration_s +"
            " target rate / u\ntarget rate = mean rows in + growth of the lag; catch-up rate = lag"
            " / catch_up_duration_s; true rate = rows in / busy\nslots = ceil(p x"
            " clamp(capacity(utilization_target) / true rate, 1 - down factor, 1 + up factor)),"
            " aligned with partitions\nonly if true rate < capacity(max, no restart) or >"
            " capacity(min); in: the largest recommendation of scale_down_interval_s"
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
        """Return the executors of the largest vertex once the window is full."""
        now, p = observation.t_s, job_slots(observation)
        if p is None:
            return hold(observation, "size kept: the executors are unknown"), memory
        try:
            graph = vertices(observation)
            state = self._collect(observation, graph, memory, p)
        except BadInput as wrong:
            return hold(observation, f"size kept: {wrong}"), memory
        # As in Flink: no decisions after a change for the stabilization interval and a full window.
        if now < state.get("full_s", math.inf) or len(state["times"]) < 2:
            age_s = now - state["since_s"]
            why = f"metrics window is not full: {age_s:.0f} s since the last change of size"
            return hold(observation, why), state
        window = Window(state["times"], state["columns"])
        wanted, backlog = window.targets(graph, self.catch_up_duration_s), self._is_backlog(window)
        demands = [
            self._demand(vertex, window, wanted[vertex.name], backlog, p) for vertex in graph
        ]
        # All vertices share the executors here, so the one that needs most decides.
        largest = max(demands, key=lambda demand: demand.size)
        size, outside, why = self._patient(largest.size, self._outside(demands, p), p, now, state)
        if why or not outside:
            why = why or "true rate within its bounds"
            return hold(observation, why, _evidence(largest, p)), state
        return self._act(observation, largest, size, p, state)

    def _act(
        self, observation: Observation, largest: _Demand, size: int, p: int, state: dict[str, Any]
    ) -> tuple[Decision, Memory]:
        up, evidence, limit = state.get("up"), _evidence(largest, p), self.effectiveness_threshold
        # Only for the step in force: another size is no evidence about it.
        if (
            up
            and up["slots"] == p < size
            and is_ineffective(largest.rate, up["rate"], up["expected"], limit)
        ):
            # Always reported, like Flink's event; it blocks only if the detection is enabled.
            evidence["ineffective"] = "the last step out did not help"
            if self.effectiveness_detection:
                why = "size kept: the last step out did not help"
                return hold(observation, why, evidence), state
        target = executors_for(size, observation)
        reason = (
            f"{largest.vertex} must process {largest.target:,.0f} rows/s and can do"
            f" {largest.rate:,.0f} with {counted(p, 'slot')}: {counted(size, 'slot')} needed"
        )
        acted: dict[str, float] | None = {
            "slots": size,
            "rate": largest.rate,
            "expected": largest.rate / p * size,
        }
        if size <= p or not math.isfinite(largest.rate):
            acted = None
        return Decision(target=target, reason=reason, evidence=evidence), {**state, "up": acted}

    def _collect(
        self, observation: Observation, graph: Sequence[Vertex], memory: Memory, p: int
    ) -> dict[str, Any]:
        """Return the state with a new sample; a change of size or graph, or a clock that was set
        back, starts a new history.
        """
        now, names = observation.t_s, [vertex.name for vertex in graph]
        values = sample(observation, graph)
        # Samples of another parallelism would be divided by the wrong number of slots.
        same = (
            memory.get("slots") == p and memory.get("names") == names and memory["times"][-1] <= now
        )
        state: dict[str, Any] = dict(memory)
        if not same:
            state = {"slots": p, "names": names, "since_s": now, "recommendations": []}
            state |= {"up": memory.get("up"), "times": []}
            state["columns"] = {name: [[]] * 5 for name in names}
        for name, row in values.items():
            rate = observed_rate(row, observation, self.observed_lag_threshold_s)
            earlier = state["columns"][name][OBSERVED]
            # Like Flink, keep the mean of earlier observations while the vertex is not catching up.
            row.append(average(earlier, self.observed_min_observations) if rate is None else rate)
        state["times"], state["columns"] = extended(
            state["times"], state["columns"], now, values, self.metrics_window_s
        )
        if now >= state["since_s"] + self.stabilization_interval_s:
            # Set once: the window must contain only samples from after the stabilization.
            state.setdefault("full_s", now + self.metrics_window_s)
        return state

    def _demand(
        self, vertex: Vertex, window: Window, wanted: tuple[float, float], backlog: bool, p: int
    ) -> _Demand:
        """Return the demand of a vertex: its size is the target capacity over its true rate."""
        name, demand = vertex.name, Demand(*wanted, self.catch_up_duration_s, self.restart_time_s)
        by_busy = busy_rate(window.mean(name, IN) or 0.0, window.mean(name, BUSY) or 0.0)
        observed = window.mean(name, OBSERVED, self.observed_min_observations)
        rate = true_rate(by_busy, observed, self.observed_switch_threshold)
        target = demand.capacity(self.utilization_target, with_restart=True)
        size = scaled(p, target, rate, self.scale_down_max_factor, self.scale_up_max_factor)
        partitions, most = self.partitions or vertex.partitions, max(p, self.vertex_max_parallelism)
        # Key groups limit a keyed vertex; a source may have idle subtasks.
        most = min(most, vertex.partitions) if vertex.keyed and vertex.partitions else most
        size = min(max(size, min(p, self.vertex_min_parallelism)), most)
        # During catch-up no utilization is too low, and only a full one is too high.
        high = 1.0 if backlog else self.highest_utilization
        low = 0.0 if backlog else self.lowest_utilization
        return _Demand(
            vertex=name,
            size=aligned(size, p, partitions, most, self.alignment) if partitions else size,
            target=target,
            rate=rate,
            up_below=demand.capacity(high, with_restart=False),
            down_above=demand.capacity(low, with_restart=True),
        )

    def _outside(self, demands: Sequence[_Demand], p: int) -> bool:
        """Return whether a vertex is out of bounds; unchanged and delayed vertices do not count."""
        grows = any(demand.size > p for demand in demands)
        waits = grows and self.scale_down_interval_s > 0
        counted_in = [one for one in demands if one.size > p or (one.size < p and not waits)]
        return any(demand.outside for demand in counted_in)

    def _patient(
        self, size: int, outside: bool, p: int, now: float, state: dict[str, Any]
    ) -> tuple[int, bool, str]:
        """Return the size, whether a vertex requires a change, and the reason to wait, or ''."""
        # A recommendation not to scale in restarts the hour, as in Flink's delayed scale-down.
        if size >= p:
            state.update(recommendations=[], recommended_s=None)
            return size, outside, "" if size > p else "true rate fits the size"
        if self.scale_down_interval_s == 0:
            return size, outside, ""
        began_s = state["recommended_s"] if state.get("recommended_s") is not None else now
        recommendations = with_demand(
            state["recommendations"], now, size, outside, self.scale_down_interval_s
        )
        state.update(recommendations=recommendations, recommended_s=began_s)
        # The recommendations are decreasing, so the first is the largest of the hour.
        waited_s, (_, largest, called_for) = now - began_s, recommendations[0]
        if waited_s >= self.scale_down_interval_s:
            return largest, called_for, ""
        why = f"size kept: {counted(size, 'slot')} would do, so far for {waited_s:.0f} of"
        return largest, called_for, f"{why} {self.scale_down_interval_s:.0f} s"

    def _is_backlog(self, window: Window) -> bool:
        """Return whether a source is working off a backlog; the job must not shrink then."""
        threshold_s = self.backlog_processing_lag_threshold_s
        for name, columns in window.columns.items():
            lag, rate = columns[LAG][-1], window.mean(name, IN) or 0.0
            if lag is not None and rate > 0 and lag / rate > threshold_s:
                return True
        return False


def _evidence(demand: _Demand, p: int) -> dict[str, float | int | str | None]:
    numbers = {
        "target_capacity": demand.target,
        "true_rate": demand.rate,
        "up_below": demand.up_below,
        "down_above": demand.down_above,
    }
    return {
        "slots": p,
        "recommended": demand.size,
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
    }
