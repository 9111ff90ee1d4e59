"""Koper's next-generation autoscaler (thesis, 6.3): detect by lag, size by measured throughput."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.lag import queued_rows
from rheostat.signals.statistics.windows import (
    Samples,
    at_most_quantile,
    deriv,
    max_over_time,
    newest,
    within,
)

_RECENT_BATCHES = 5

Throughput: TypeAlias = Mapping[str, Samples]
"""The measured (t_s, rows per second) by number of executors, which is text as in JSON."""


@dataclass(frozen=True, slots=True)
class MeasuredThroughput(Limited):
    """executors = ceil((1 + factor) x max(rate, rows of the next batch / time left) / throughput
    per executor); never fewer under lag.

    The time left is the objective less the age that the oldest row will have when the next batch
    begins, which is after the running batch or at the next trigger. It is at least ``lag_share`` of
    the objective: rows that are already late are worked off in that time. The size grows under lag,
    which is a wait of ``lag_share`` of the objective, and before lag if the current size cannot
    meet the equation without the factor. A rate above all others of the last ``quiet_s`` then
    counts with its increase doubled, because after a jump between two observations the mean rate
    shows only half of it.

    The throughput of a size is recorded only under lag, because only then is it the maximum. The
    estimate is the 0.9 quantile of the samples (the maximum is biased upward after restarts) at the
    nearest size with samples. The last batches, with or without lag, give a lower bound. It is used
    before anything was measured, and instead of a measurement that it exceeds (rows became
    cheaper). Lag that still rises adds one executor. Batches shorter than half the trigger interval
    are mostly fixed cost: before anything was measured they at most double the size. Back-to-back
    batches without lag show only the arrival rate; while they are short and nothing was measured,
    the policy tries one executor less.

    The time left, scaling out before lag, and the lower bound are our additions.
    """

    about: ClassVar[About] = About(
        formula=(
            "time left = max(slo - age of the oldest row when the next batch begins,"
            " lag_share x slo)\nexecutors = ceil((1 + factor) x max(input_rows_per_s, rows"
            " of the next batch / time left) / throughput per executor)"
        ),
        source=(
            "Koper, A Comparison of Auto-scaling Techniques for Distributed Stream Processing"
            " (2022), section 6.3"
        ),
        fails_when=(
            "the load jumps so high that the batch under way lasts longer than the objective: its"
            " rows and those behind it are late; batches run back to back and rows become cheaper:"
            " the size then stays until the next lag"
        ),
        monotone=True,
    )

    factor: float = parameter(0.2, "over-provisioning: capacity beyond what is needed", "1")
    lag_share: float = parameter(
        0.3, "lag counts from this share of the latency objective", "1", above=0
    )
    slo: float = parameter(10.0, "latency objective", "s", above=0)
    window_s: float = parameter(15.0, "window of the slope of the lag", "s", above=0)
    settle_s: float = parameter(
        10.0, "batches that begin this soon after a change of size are cold", "s"
    )
    quiet_s: float = parameter(
        30.0, "the highest rate of this time decides on scaling in", "s", above=0
    )
    memory_s: float = parameter(
        600.0, "samples this much older than the newest are forgotten", "s", above=0
    )
    samples: int = parameter(20, "throughput samples kept per number of executors", "1", above=0)
    quantile: float = parameter(
        0.9, "of the samples, the one that counts as the throughput", "1", above=0, at_most=1
    )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the numbers that it was computed from."""
        state = self._learn(observation, memory)
        rate, lag_s, size = observation.input_rows_per_s, observation.wait_s, observation.size or 1
        if rate is None or lag_s is None or not observation.executors:
            return hold(observation, "size kept: arrival rate, lag or executors are unknown"), state
        per_executor, count = _per_executor_of(
            state["throughput"], state["recent"], observation.executors, self.quantile
        )
        lagging, slope = self._lagging(observation), deriv(state["lag"])
        # Cold executors show too small a throughput; sizing by it would overshoot.
        starting = observation.t_s < state["changed_s"] + self.settle_s
        if per_executor is None and rate > 0 and (starting or not lagging):
            return hold(observation, "size kept: no throughput was measured yet"), state
        # A job without batches shows lag at once, and back-to-back batches show only the arrival
        # rate until there was lag.
        foreseen = observation.trigger_s is not None and (count > 0 or observation.trigger_s > 0)
        # Without the factor, because the headroom must not itself cause a scale-out.
        behind = foreseen and self._demand(observation, rate, per_executor, state) > size * (
            per_executor or math.inf
        )
        highest = max(rate for _, rate in state["rates"])
        # Scale out by the expected rate, scale in by the highest recent rate.
        rate = _expected(state["rates"]) if lagging or behind else highest
        demand = (1 + self.factor) * self._demand(observation, rate, per_executor, state)
        least = max(1, math.ceil(demand / per_executor)) if per_executor else 1
        # Without a sample under lag, the throughput is only a lower bound: no big steps then.
        target, why = self._size(observation, least, lagging, behind, slope, probe=count == 0)
        short = difference_text(size, least, target, lagging)
        reason = f"{why} ({lag_s:.1f} s): {need_text(least, demand, per_executor)}{short}"
        evidence = {"rate": rate, "demand": demand, "lag_s": lag_s, "lag_slope": slope}
        evidence |= {"throughput_per_executor": per_executor, "samples": count}
        return Decision(target=target, reason=reason, evidence=evidence), state

    def _demand(
        self,
        observation: Observation,
        rate: float,
        per_executor: float | None,
        state: Mapping[str, Any],
    ) -> float:
        """Return the rows per second that carry the arrivals and commit the next batch in time."""
        trigger_s, queued, running = (
            observation.trigger_s or 0.0,
            queued_rows(observation) or 0.0,
            observation.in_flight,
        )
        # Rows that arrived after the batch began are in no batch yet; older ones are in the running
        # batch.
        since_s = running.elapsed_s if running else trigger_s or observation.wait_s or 0.0
        waiting, age_s = newest(state["rates"], rows=queued, seconds=since_s)
        speed = (per_executor or 0.0) * _running_on(observation, state)
        # The rest of the backlog is in the running batch, which takes this long at the current
        # speed.
        ends_s = max(0.0, (queued - waiting) / speed - since_s) if running and speed else 0.0
        begins_s = max(ends_s, trigger_s - age_s)
        # A row waits for up to one trigger and then one batch, so less than two triggers is not
        # achievable.
        within_s = max(self.slo, 2 * trigger_s)
        # Without a minimum, rows that are already late would require an unbounded size.
        left_s = max(within_s - age_s - begins_s, self.lag_share * within_s)
        return max(rate, (waiting + rate * begins_s) / left_s)

    def _size(
        self,
        observation: Observation,
        needed: int,
        lagging: bool,
        behind: bool,
        slope: float | None,
        probe: bool,
    ) -> tuple[int, str]:
        size = observation.size or 1
        if lagging:  # executors that are starting must first show their effect
            # One more than registered: rising lag means that the measured throughput is too high.
            more = int(slope is not None and slope > 0 and (observation.executors or 0) >= size)
            return max(size + more, needed), "lag is rising" if more else "lag"
        batch_s, trigger_s = observation.batch_s or math.inf, observation.trigger_s or 0.0
        if (
            behind
        ):  # a short batch is mostly its fixed cost: what a long one could do is not known from it
            most = 2 * size if probe and batch_s < trigger_s / 2 else needed
            return max(size, min(needed, most)), "lag is coming"
        # Back-to-back batches never show the capacity of a size, so a smaller one is tried.
        if probe and size > 1 and not trigger_s and batch_s < self.slo / 4:
            return min(size - 1, needed), "no lag, one less to learn from short batches"
        return min(size, needed), "no lag"

    def _lagging(self, observation: Observation) -> bool:
        """Return whether rows wait at least ``lag_share`` of the objective and two triggers."""
        # In a healthy job, rows wait for up to two triggers; that is not lag.
        threshold_s = max(self.lag_share * self.slo, 2 * (observation.trigger_s or 0.0))
        return observation.wait_s is not None and observation.wait_s >= threshold_s

    def _learn(self, observation: Observation, memory: Memory) -> dict[str, Any]:
        now, executors, lag_rows = observation.t_s, observation.executors, queued_rows(observation)
        same = executors == memory.get("executors", executors)
        # After a clock was set back, the change would otherwise lie in the future for a long time.
        changed_s = min(memory.get("changed_s", now), now) if same else now
        # Lag from before a change is no evidence about the new size.
        lag = within(memory.get("lag", ()), now, min(self.window_s, now - changed_s))
        known = (
            [] if observation.input_rows_per_s is None else [(now, observation.input_rows_per_s)]
        )
        state = {
            "rates": [*within(memory.get("rates", ()), now, self.quiet_s), *known],
            "lag": lag if lag_rows is None else [*lag, (now, lag_rows)],
            "executors": executors,
            "changed_s": changed_s,
            "before": memory.get("before") if same else memory.get("executors"),
            "throughput": memory.get("throughput", {}),
            "recent": memory.get("recent", []),
            "batch": [observation.batch_s, observation.batch_rows],
        }
        rate = observation.processed_rows_per_s
        # A job without batches, such as a recorded Flink job, shows a throughput at every tick.
        is_new = observation.batch_s is None or state["batch"] != memory.get("batch")
        if (
            executors
            and rate
            and is_new
            and _ran_wholly_since(changed_s + self.settle_s, observation)
        ):
            state["recent"] = [*state["recent"], rate / executors][-_RECENT_BATCHES:]
            if self._lagging(observation):
                added = _with_sample(state["throughput"], executors, (now, rate), self.samples)
                state["throughput"] = _fresh(added, now, self.memory_s)
        return state


def _expected(rates: Samples) -> float:
    """Return the last rate plus its increase over all earlier rates."""
    *before, (_, rate) = rates
    return rate + max(0.0, rate - (max_over_time(before) or rate)) if before else rate


def _running_on(observation: Observation, state: Mapping[str, Any]) -> int:
    """Return the executors that work on the running batch; those that registered after it began
    wait for the next one.
    """
    executors, running = observation.executors or 1, observation.in_flight
    began_s = observation.t_s - (running.elapsed_s if running else 0.0)
    return (
        executors if began_s >= state["changed_s"] else min(executors, state["before"] or executors)
    )


def _ran_wholly_since(settled_s: float, observation: Observation) -> bool:
    """Return whether the batch began after the executors of this size had warmed up."""
    running_s = observation.in_flight.elapsed_s if observation.in_flight else 0.0
    return observation.t_s - running_s - (observation.batch_s or 0.0) >= settled_s


def _with_sample(
    known: Throughput, executors: int, sample: tuple[float, float], most: int
) -> dict[str, Samples]:
    """Return the samples with one added to a size, which keeps at most ``most``."""
    size = str(executors)
    return {**known, size: [*known.get(size, ()), sample][-most:]}


def _fresh(known: Throughput, now_s: float, memory_s: float) -> dict[str, Samples]:
    return {size: left for size, kept in known.items() if (left := within(kept, now_s, memory_s))}


def _per_executor_of(
    known: Throughput, recent: Sequence[float], executors: int, quantile: float
) -> tuple[float | None, int]:
    """Return rows/s per executor (quantile at the nearest size under lag) and its sample count."""
    bound = at_most_quantile(recent, quantile) if recent else 0.0
    # Before the first lag, the bound of the last batches is the only estimate.
    if not known:
        return bound or None, 0
    # Nearest by ratio: 2 is as far from 4 as 4 from 8.
    nearest = min(known, key=lambda size: (abs(math.log(int(size) / executors)), int(size)))
    rates = [rate for _, rate in known[nearest]]
    return max(bound, at_most_quantile(rates, quantile) / int(nearest)), len(rates)


def need_text(executors: int, rows_per_s: float, per_executor: float | None) -> str:
    """Return the required size and its cause: ``9 executors needed for 1,399 rows/s at 155 rows/s
    an executor``; only the load if the throughput is unknown.
    """
    load = f"{rows_per_s:,.0f} rows/s"
    if not per_executor:
        return f"{load}, and no throughput was measured yet"
    least = counted(executors, "executor")
    return f"{least} needed for {load} at {per_executor:,.0f} rows/s an executor"


def difference_text(size: int, executors: int, target: int, lagging: bool) -> str:
    """Return why ``target`` differs from the required number ``executors``; empty if it does not,
    or if the size shrinks.
    """
    if target == executors or target < size:
        return ""
    if lagging and target > size:
        return "; one executor is added, because the lag rises nevertheless"
    if lagging:
        return "; no executor leaves while there is lag"
    if target == size:
        return "; no executor is added without lag"
    return f"; {counted(target, 'executor')} at most before a throughput was measured"
