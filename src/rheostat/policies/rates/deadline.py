"""The size that processes the backlog of a run by its deadline, for jobs that run now and then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, ClassVar

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.lag import queued_rows

_ANOTHER_RUN_S = 120.0
"""After a gap of this length between two observations another run has begun."""

_LEAST_SHARE = 0.1
"""Share of the deadline that is planned with at least: an overdue backlog would need any size."""


@dataclass(frozen=True, slots=True)
class Deadline(Limited):
    """executors = ceil(backlog / time left / throughput per executor).

    A run begins with its first observation and with the first backlog after none: an
    ``availableNow`` query, or a batch of a long trigger interval. Its backlog is planned to be
    processed within ``planned`` of ``within_s``; the rest is for executors that start, and their
    first batches. The throughput is the median of the last ``batches`` batches, per executor.

    The present size is kept while it suffices and the next smaller one does not with a ``reserve``.
    """

    about: ClassVar[About] = About(
        formula=(
            "left = max(planned x within_s - time since the run began, within_s / 10)\nexecutors ="
            " ceil(lag_rows / left / (batch_rows / batch_s / executors))"
        ),
        source="ours; Spark's availableNow trigger has no deadline",
        fails_when=(
            "batches are too few to react between them (set maxOffsetsPerTrigger or"
            " maxFilesPerTrigger), or their fixed cost makes throughput grow less than executors"
        ),
        steady=Observation(t_s=0.0, executors=1, batch_rows=7500, batch_s=7.5, lag_rows=0.0),
    )

    within_s: float = parameter(
        1800.0, "time in which the backlog of a run is processed", "s", above=0
    )
    planned: float = parameter(0.8, "share of that time that is planned", "1", above=0, at_most=1)
    reserve: float = parameter(0.2, "reserve that a smaller size must have", "1", below=math.inf)
    batches: int = parameter(5, "batches whose median throughput counts", "1", above=0)

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the smallest size that meets the deadline."""
        backlog = queued_rows(observation)
        state = self._learn(observation, backlog, memory)
        if backlog is None or not observation.executors:
            return hold(observation, "size kept: backlog or executors are unknown"), state
        if not state["throughputs"]:
            return hold(observation, "size kept: no throughput was measured yet"), state
        per_executor, size = median(state["throughputs"]), observation.size or 1
        elapsed_s = observation.t_s - state["began_s"]
        left_s = max(self.planned * self.within_s - elapsed_s, _LEAST_SHARE * self.within_s)
        executors = backlog / left_s / per_executor
        needed = max(1, math.ceil(executors))
        with_reserve = max(1, math.ceil((1 + self.reserve) * executors))
        target = needed if needed > size else min(size, with_reserve)
        evidence = {
            "lag_rows": backlog,
            "left_s": left_s,
            "throughput_per_executor": per_executor,
            "needed": needed,
        }
        reason = (
            f"{counted(needed, 'executor')} needed to process {backlog:,.0f} rows within"
            f" {left_s:,.0f} s at {per_executor:,.0f} rows/s an executor"
        )
        return Decision(target=target, reason=reason, evidence=evidence), state

    def _learn(
        self, observation: Observation, backlog: float | None, memory: Memory
    ) -> dict[str, Any]:
        now_s, throughputs = observation.t_s, memory.get("throughputs", [])
        batch, began_s = [observation.batch_s, observation.batch_rows], memory.get("began_s", now_s)
        idle = memory.get("lag_rows") == 0
        if idle or not 0 <= now_s - memory.get("newest_s", now_s) < _ANOTHER_RUN_S:
            began_s = now_s
        if observation.executors and all(batch) and batch != memory.get("batch"):
            throughputs = self._with(throughputs, observation)
        return {
            "began_s": min(began_s, now_s),
            "batch": batch,
            "throughputs": throughputs,
            "lag_rows": memory.get("lag_rows") if backlog is None else backlog,
        }

    def _with(self, throughputs: Sequence[float], observation: Observation) -> list[float]:
        rows_per_s = (observation.batch_rows or 0) / (observation.batch_s or math.inf)
        return [*throughputs, rows_per_s / (observation.executors or 1)][-self.batches :]
