"""Koper's next-generation autoscaler (thesis §6.3): detect by lag, size by the throughput that was measured under lag."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.about import About
from rheostat.policies.order import in_order
from rheostat.signals.lag import queued_rows
from rheostat.signals.windows import at_most_quantile, deriv, within

_RECENT_BATCHES = 5


@dataclass(frozen=True, slots=True)
class MeasuredThroughput:
    """executors = ceil((rate x (1 + factor) + lag / catch-up time) / throughput per executor); lag may scale out, no lag in.

    The throughput of a size is remembered while there was lag, for only then it is the maximum: the 0.9 quantile of the
    samples (a maximum is biased upward after restarts) at the nearest size that has any. The last batches, lag or not,
    are a lower bound: it stands in before any was measured, and for a measure that it exceeds (rows became cheaper).
    Lag that rises all the same asks for one executor more. Back-to-back batches without lag show only the arrival rate;
    while they are short and nothing was measured, one executor less is tried.

    The catch-up term and the lower bound are ours.
    """

    about: ClassVar[About] = About(
        formula="executors = ceil((input_rows_per_s x (1 + factor) + lag_rows / catch_up_s) / throughput per executor)",
        source="Koper, A Comparison of Auto-scaling Techniques for Distributed Stream Processing (2022), section 6.3",
        fails_when="batches run back to back and rows become cheaper: the size then stays until the next lag",
        steady=Observation(
            t_s=0.0,
            executors=4,
            trigger_s=1.0,
            batch_s=0.75,
            processed_rows_per_s=4000.0,
            input_rows_per_s=3000.0,
            lag_rows=1500.0,
            lag_s=0.5,
        ),
        monotone=True,
    )

    factor: float = field(default=0.2, metadata={"help": "over-provisioning: capacity beyond the arrival rate", "unit": "1"})
    lag_share: float = field(default=0.3, metadata={"help": "lag counts from this share of the latency objective", "unit": "1"})
    objective_s: float = field(default=10.0, metadata={"help": "latency objective", "unit": "s"})
    window_s: float = field(default=15.0, metadata={"help": "window of the slope of the lag", "unit": "s"})
    catch_up_s: float = field(default=60.0, metadata={"help": "time in which lag is to be worked off", "unit": "s"})
    settle_s: float = field(default=10.0, metadata={"help": "batches begun this soon after a change of size are cold", "unit": "s"})
    quiet_s: float = field(default=30.0, metadata={"help": "the highest rate of this time decides on scaling in", "unit": "s"})
    memory_s: float = field(default=600.0, metadata={"help": "samples this much older than the newest are forgotten", "unit": "s"})
    samples: int = field(default=20, metadata={"help": "throughput samples kept per number of executors", "unit": "1"})
    quantile: float = field(default=0.9, metadata={"help": "of the samples, the one that counts as the throughput", "unit": "1"})

    def __post_init__(self) -> None:
        for name in (entry.name for entry in fields(self) if entry.name not in ("factor", "settle_s")):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be above 0, but it is {getattr(self, name)}")
        if not (self.factor >= 0 and self.settle_s >= 0 and self.quantile <= 1):
            given = f"{self.factor}, {self.settle_s} and {self.quantile}"
            raise BadInput(f"factor and settle_s must be at least 0 and quantile at most 1, but they are {given}")

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the numbers it was computed from."""
        seen = self._learn(observation, memory)
        rate, lag_s = observation.input_rows_per_s, observation.lag_s
        if rate is None or lag_s is None or not observation.executors:
            return hold(observation, "size kept: arrival rate, lag or executors are unknown"), seen
        per_executor, count = self._throughput_per_executor(observation.executors, seen)
        lagging, slope = self._lagging(observation), deriv(seen["lag"])
        starting = observation.t_s < seen["changed_s"] + self.settle_s
        if per_executor is None and rate > 0 and (starting or not lagging):
            return hold(observation, "size kept: no throughput was measured yet"), seen
        rate = rate if lagging else max(rate for _, rate in seen["rates"])
        backlog = queued_rows(observation) or 0.0 if lagging else 0.0
        demand = rate * (1 + self.factor) + backlog / self.catch_up_s
        needed = max(1, math.ceil(demand / per_executor)) if per_executor else 1
        target, why = self._size(observation, needed, lagging, slope, probe=count == 0)
        numbers = f"at {per_executor:.0f} rows/s an executor need {needed}" if per_executor else "at an unknown throughput"
        reason = f"{why} ({lag_s:.1f} s): {rate:.0f} rows/s {numbers}"
        evidence = {"rate": rate, "lag_s": lag_s, "lag_slope": slope, "throughput_per_executor": per_executor, "samples": count}
        return Decision(target=target, reason=reason, evidence=evidence), seen

    def _size(self, observation: Observation, needed: int, lagging: bool, slope: float | None, probe: bool) -> tuple[int, str]:
        size = observation.size or 1
        if lagging:  # executors that are on their way must show first what they do
            more = int(slope is not None and slope > 0 and (observation.executors or 0) >= size)
            return max(size + more, needed), "lag is rising" if more else "lag"
        if probe and size > 1 and not observation.trigger_s and (observation.batch_s or math.inf) < self.objective_s / 4:
            return min(size - 1, needed), "no lag, one less to learn from short batches"
        return min(size, needed), "no lag"

    def _lagging(self, observation: Observation) -> bool:
        """Tell whether rows wait longer than a healthy job lets them: one trigger until their batch begins, one until it ends."""
        threshold_s = max(self.lag_share * self.objective_s, 2 * (observation.trigger_s or 0.0))
        return observation.lag_s is not None and observation.lag_s >= threshold_s

    def _learn(self, observation: Observation, memory: Memory) -> dict[str, Any]:
        now, executors, lag_rows = observation.t_s, observation.executors, queued_rows(observation)
        same = executors == memory.get("executors", executors)
        changed_s = min(memory.get("changed_s", now), now) if same else now
        lag = within(memory.get("lag", ()), now, min(self.window_s, now - changed_s))
        seen = {
            "rates": [*within(memory.get("rates", ()), now, self.quiet_s), (now, observation.input_rows_per_s or 0.0)],
            "lag": lag if lag_rows is None else [*lag, (now, lag_rows)],
            "executors": executors,
            "changed_s": changed_s,
            "throughput": memory.get("throughput", {}),
            "recent": memory.get("recent", []),
            "batch": [observation.batch_s, observation.batch_rows],
        }
        rate = observation.processed_rows_per_s
        # A job without batches, such as a recorded Flink job, shows a throughput at every tick.
        is_new = observation.batch_s is None or seen["batch"] != memory.get("batch")
        if executors and rate and is_new and _ran_wholly_since(changed_s + self.settle_s, observation):
            seen["recent"] = [*seen["recent"], rate / executors][-_RECENT_BATCHES:]
            if self._lagging(observation):
                seen["throughput"] = self._with_sample(seen["throughput"], str(executors), (now, rate))
        return seen

    def _with_sample(self, throughput: Mapping[str, Any], executors: str, sample: tuple[float, float]) -> dict[str, Any]:
        added = {**throughput, executors: [*throughput.get(executors, ()), sample][-self.samples :]}
        return {size: fresh for size, kept in added.items() if (fresh := within(kept, sample[0], self.memory_s))}

    def _throughput_per_executor(self, executors: int, seen: Mapping[str, Any]) -> tuple[float | None, int]:
        """Return rows per second and executor, and the number of samples under lag behind it."""
        bound = at_most_quantile(seen["recent"], self.quantile) if seen["recent"] else 0.0
        if not (measured := seen["throughput"]):
            return bound or None, 0
        nearest = min(measured, key=lambda known: (abs(math.log(int(known) / executors)), int(known)))
        rates = [rate for _, rate in measured[nearest]]
        return max(bound, at_most_quantile(rates, self.quantile) / int(nearest)), len(rates)


def _ran_wholly_since(settled_s: float, observation: Observation) -> bool:
    """Only a batch that began after the executors of this size were warm shows what the size can do."""
    running_s = observation.in_flight.elapsed_s if observation.in_flight else 0.0
    return observation.t_s - running_s - (observation.batch_s or 0.0) >= settled_s
