"""Catch-up scaling (Varga 2021, section 6): clears the lag in time, including the downtime."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.lag import queued_rows
from rheostat.signals.last_resize import learn_downtimes, predicted_downtime_s
from rheostat.signals.true_rates import is_known, job_true_rate, rounded_up


@dataclass(frozen=True, slots=True)
class CatchUp(Limited):
    """n = ceil((rate + excess / time left) / throughput per executor).

    The excess is the lag beyond the threshold plus rate x downtime D; the time left is
    ``catch_up_s`` - D. Keeping the size has D = 0; a change has the ``quantile`` of the observed
    downtimes. The size therefore changes only if the current one does not clear the lag in time, or
    if a smaller one does in spite of its downtime.
    """

    about: ClassVar[About] = About(
        formula=(
            "excess = max(0, lag_rows - threshold_s x rate) + rate x D; D = quantile of the"
            " downtimes seen, 0 for the present size\nexecutors = ceil((rate + excess /"
            " (catch_up_s - D)) / (true rate / executors))"
        ),
        source=(
            "Varga, Balassi and Kiss, Towards autoscaling of Apache Flink jobs (2021), section 6,"
            " future work; D from section 5.3"
        ),
        fails_when=(
            "throughput does not grow linearly with executors, or lag that load added is taken for"
            " the cost of a rescale"
        ),
    )

    catch_up_s: float = parameter(
        60.0, "time that the SLA allows until the lag is cleared", "s", above=0
    )
    threshold_s: float = parameter(2.0, "lag, in seconds of arrivals, that counts as cleared", "s")
    downtime_s: float = parameter(10.0, "downtime of a rescale before one was observed", "s")
    quantile: float = parameter(
        0.9, "quantile of the observed downtimes that is assumed", "1", at_most=1
    )
    settle_s: float = parameter(
        60.0, "time after a change of size in which its lag is measured", "s", above=0
    )
    samples: int = parameter(30, "downtimes that are remembered", "1", above=0)

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the smallest size that clears the lag in time."""
        state = learn_downtimes(observation, memory, self.settle_s, self.samples)
        rate, lag = observation.input_rows_per_s, queued_rows(observation)
        true_rate, executors = job_true_rate(observation), observation.executors
        if not (
            is_known(rate) and is_known(lag) and executors and (rate <= 0 or true_rate is not None)
        ):
            why = "size kept: arrival rate, lag, executors or true rate are unknown"
            return hold(observation, why), state
        size, per_executor = observation.size or 1, (true_rate or math.inf) / executors
        downtime_s = predicted_downtime_s(state, self.quantile, self.downtime_s)
        # Keeping the size costs no downtime and a change does, hence two results.
        standing, changed = (self._executors(rate, lag, per_executor, d) for d in (0.0, downtime_s))
        evidence = {
            "rate": rate,
            "lag_rows": lag,
            "throughput_per_executor": true_rate and per_executor,
            "downtime_s": downtime_s,
        }
        evidence |= {"standing": standing, "changed": changed}
        evidence["downtimes_seen"] = len(state["downtimes_s"])
        # The current size clears the lag in time, and a change would have to recover its own
        # downtime.
        if standing <= size <= changed:
            why = (
                f"{counted(size, 'executor')} clear {lag:,.0f} rows within"
                f" {self.catch_up_s:.0f} s; a change of size would need {changed}"
            )
            return hold(observation, why, evidence), state
        # Scaling in waits until the lag of the last change is gone; scaling out never waits.
        if changed < size and (state["disturbance"] or executors != size):
            return hold(observation, "the last change of size has not settled", evidence), state
        why = (
            f"{rate:,.0f} rows/s, {lag:,.0f} rows waiting and {downtime_s:.1f} s of downtime:"
            f" {counted(changed, 'executor')} needed to clear that within {self.catch_up_s:.0f} s"
        )
        return Decision(target=changed, reason=why, evidence=evidence), state

    def _executors(self, rate: float, lag: float, per_executor: float, downtime_s: float) -> int:
        """Return the executors that clear the lag in the time that the downtime leaves."""
        excess = max(0.0, lag - self.threshold_s * rate) + rate * downtime_s
        # A downtime close to the catch-up time would require an unbounded size.
        left_s = max(self.catch_up_s - downtime_s, self.catch_up_s / 10)
        return max(1, rounded_up((rate + excess / left_s) / per_executor))
