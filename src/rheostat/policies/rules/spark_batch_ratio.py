"""SPARK-12133, version 1: follow the ratio of batch time to batch interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.parameters import About, check_limits, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.batch_ratio import batch_ratio
from rheostat.signals.statistics.windows import mean, within


@dataclass(frozen=True, slots=True)
class SparkBatchRatio:
    """Every minute, R_avg > 0.9 adds max(1, round half up(R_avg)) executors, and R_avg < 0.5
    removes one.

    R = batch time / batch interval, averaged over the last minute. The target is repeated between
    two decisions, so that it overrides requests that have not been served.

    The numbers are those of version 1; ``about`` has the source. Its successor in Spark, the
    DStreams' ExecutorAllocationManager, is ``down_ratio=0.3 inclusive=true``.
    """

    about: ClassVar[About] = About(
        formula=(
            "R = batch_s / trigger_s, mean of a minute; R > up_ratio: +max(1, round half up(R)); R"
            " < down_ratio: -1"
        ),
        source="Or and Das, SPARK-12133: Dynamic Allocation in Spark Streaming (2015), version 1",
        fails_when=(
            "a batch's time is a fixed cost that more executors do not lower: it then climbs to the"
            " maximum"
        ),
        steady=Observation(t_s=0.0, executors=4, batch_s=7.0, trigger_s=10.0),
    )

    up_ratio: float = parameter(0.9, "above this mean ratio, scale out", "1")
    down_ratio: float = parameter(0.5, "below this mean ratio, scale in by one", "1")
    inclusive: bool = parameter(
        False, "a mean at a threshold counts, too, as in Spark's class", "yes/no"
    )
    interval_s: float = parameter(
        60.0, "time between two decisions, and the window of the mean", "s", above=0
    )
    slo: float = parameter(
        10.0, "latency objective; half of it is R without a trigger", "s", above=0
    )

    def __post_init__(self) -> None:
        check_limits(self)
        if not self.down_ratio < self.up_ratio:
            raise BadInput(
                f"up_ratio ({self.up_ratio}) must be above down_ratio ({self.down_ratio})"
            )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the target and the ratios of the window."""
        now = observation.t_s
        ratio = batch_ratio(observation, self.slo)
        newest = [] if ratio is None else [(now, ratio)]
        ratios = within([*memory.get("ratios", ()), *newest], now, self.interval_s)
        # The first observation decides nothing, because a complete minute must be observed first.
        decided_s = min(memory.get("decided_s", now), now)
        average = mean(ratios)
        state = {"ratios": ratios, "decided_s": decided_s}
        if ratio is None or average is None or now - decided_s < self.interval_s:
            reason = "size kept: no batch is known" if ratio is None else "between two decisions"
            return hold(observation, reason, {"ratio_avg": average}), state
        target, reason = self._step(observation.size or 1, average)
        evidence = {"ratio_avg": average, "samples": len(ratios)}
        decision = Decision(target=target, reason=reason, evidence=evidence)
        return decision, {**state, "decided_s": now}

    def _step(self, current: int, average: float) -> tuple[int, str]:
        at, taken = self.inclusive, f"batches take {average:.2f} of their interval"
        if average > self.up_ratio or (at and average == self.up_ratio):
            # Half up, like Java's Math.round; Python's round(2.5) is 2.
            more = max(1, math.floor(average + 0.5))
            return current + more, f"{taken} (up from {self.up_ratio}): {more} more"
        if average < self.down_ratio or (at and average == self.down_ratio):
            # The guards enforce the minimum, as in the document.
            return current - 1, f"{taken} (down from {self.down_ratio}): one less"
        return current, taken
