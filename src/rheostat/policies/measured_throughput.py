"""Koper's next-generation autoscaler (thesis §6.3): detect by lag, size by the throughput that was measured under lag."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Decision, Evidence, Memory, Observation, hold
from rheostat.signals.windows import deriv, within


@dataclass(frozen=True, slots=True)
class MeasuredThroughput:
    """executors = ceil(rate x (1 + factor) / throughput per executor); lag that rises scales out, no lag may scale in.

    The throughput of a configuration is remembered while there was lag, for only then it is the maximum: the 0.9
    quantile of the last samples (a maximum is biased upward after restarts). Before any was measured, the throughput of
    the last batch stands for it: a lower bound, so the first sizes err towards too many.

    Source: Koper, thesis, §6.3. Fails when: the cost of a row changes much faster than the samples are replaced.
    """

    factor: float = field(default=0.2, metadata={"help": "over-provisioning: capacity beyond the arrival rate", "unit": "1"})
    lag_share: float = field(default=0.3, metadata={"help": "lag counts from this share of the latency objective", "unit": "1"})
    objective_s: float = field(default=10.0, metadata={"help": "latency objective", "unit": "s"})
    window_s: float = field(default=15.0, metadata={"help": "window of the slope of the lag", "unit": "s"})
    samples: int = field(default=20, metadata={"help": "throughput samples kept per number of executors", "unit": "1"})
    quantile: float = field(default=0.9, metadata={"help": "of the samples, the one that counts as the throughput", "unit": "1"})

    def __post_init__(self) -> None:
        positive = {"objective_s": self.objective_s, "window_s": self.window_s, "lag_share": self.lag_share, "samples": self.samples}
        for name, value in positive.items():
            if not value > 0:
                raise BadInput(f"{name} must be above 0, but it is {value}")
        if self.factor < 0:
            raise BadInput(f"factor must be 0 or more, but it is {self.factor}")
        if not 0 < self.quantile <= 1:
            raise BadInput(f"quantile must be above 0 and at most 1, but it is {self.quantile}")

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the numbers it was computed from."""
        seen = self._learn(observation, memory)
        rate, lag_s = observation.input_rows_per_s, observation.lag_s
        if rate is None or lag_s is None or not observation.executors:
            return hold(observation, "size kept: arrival rate, lag or executors are unknown"), seen
        per_executor, count = self._throughput_per_executor(observation, seen["throughput"])
        if per_executor is None:
            return hold(observation, "size kept: no throughput was measured yet"), seen
        slope = deriv(seen["lag"])
        evidence = {"rate": rate, "lag_s": lag_s, "lag_slope": slope, "throughput_per_executor": per_executor, "samples": count}
        needed = max(1, math.ceil(rate * (1 + self.factor) / per_executor))
        return self._size(observation, needed, lag_s, slope, evidence), seen

    def _size(self, observation: Observation, needed: int, lag_s: float, slope: float | None, evidence: Evidence) -> Decision:
        size = observation.size or 1
        threshold_s = self.lag_share * self.objective_s
        numbers = f"{evidence['rate']:.0f} rows/s at {evidence['throughput_per_executor']:.0f} rows/s an executor need {needed}"
        if lag_s < threshold_s:
            target, why = min(size, needed), f"no lag ({lag_s:.1f} s): {numbers}"
        elif slope is not None and slope > 0:
            more = size + 1 if observation.executors and observation.executors >= size else size
            target, why = max(more, needed), f"lag of {lag_s:.1f} s is rising: {numbers}"
        else:
            target, why = max(size, needed), f"lag of {lag_s:.1f} s is not rising: {numbers}"
        return Decision(target=target, reason=why, evidence=evidence)

    def _learn(self, observation: Observation, memory: Memory) -> dict[str, Any]:
        now, executors = observation.t_s, observation.executors
        lag = within(memory.get("lag", ()), now, self.window_s)
        if observation.lag_s is not None:
            lag = [*lag, (now, observation.lag_s)]
        changed_s = memory.get("changed_s", now) if executors == memory.get("executors", executors) else now
        throughput = memory.get("throughput", {})
        if self._is_sample(observation, changed_s, memory.get("batch")):
            throughput = self._with_sample(throughput, str(executors), observation.processed_rows_per_s)
        batch = [observation.batch_s, observation.batch_rows]
        return {"lag": lag, "executors": executors, "changed_s": changed_s, "throughput": throughput, "batch": batch}

    def _is_sample(self, observation: Observation, changed_s: float, last_batch: object) -> bool:
        """Only a new batch that ran wholly at this size and under lag shows what the size can do."""
        if observation.lag_s is None or observation.batch_s is None or not observation.processed_rows_per_s:
            return False
        lagging = observation.lag_s >= self.lag_share * self.objective_s
        new = [observation.batch_s, observation.batch_rows] != last_batch
        return lagging and new and bool(observation.executors) and observation.t_s - observation.batch_s > changed_s

    def _with_sample(self, throughput: Mapping[str, Sequence[float]], executors: str, rate: float | None) -> dict[str, Sequence[float]]:
        return {**throughput, executors: [*throughput.get(executors, ()), rate or 0.0][-self.samples :]}

    def _throughput_per_executor(self, observation: Observation, throughput: Mapping[str, Sequence[float]]) -> tuple[float | None, int]:
        """Return rows per second and executor of the measured configuration nearest to this one, and its number of samples."""
        executors = observation.executors or 1
        if throughput:
            nearest = min(throughput, key=lambda known: (abs(math.log(int(known) / executors)), int(known)))
            ordered = sorted(throughput[nearest])
            return ordered[math.ceil(self.quantile * len(ordered)) - 1] / int(nearest), len(ordered)
        return (observation.processed_rows_per_s / executors, 0) if observation.processed_rows_per_s else (None, 0)
