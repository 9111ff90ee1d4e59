"""Stochastic model predictive control (Ghanbari et al., ICAC 2012): the sizes with the lowest mean
cost over many possible loads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.forecasts.interval_means import with_rate
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.lag import queued_rows
from rheostat.signals.true_rates import arrivals_per_s, demand_of, with_demand

Floats: TypeAlias = NDArray[np.float64]

_SCENARIOS = 40
_MOST = 128
"""Number of past intervals that are kept; scenarios are drawn from them."""


@dataclass(frozen=True, slots=True)
class StochasticMpc(Limited):
    """The pair of a current and a later size with the lowest mean cost over scenarios; the first is
    the target, and every step computes a new plan.

    A scenario repeats the relative course of the rate after an earlier moment. The queue grows by
    the arrivals and shrinks by the capacity of the size. Executors cost their time, each change
    costs ``rescale_cost``, and each second in which the wait exceeds the objective costs
    ``late_price`` times the relative excess. New executors work after ``start_s``.

    The two sizes (now, and from the middle of the horizon) replace the paper's size at every step,
    and scenarios from the past replace its model of the load; its machine types and leases are
    omitted.
    """

    about: ClassVar[About] = About(
        formula=(
            "min over (q1, q2): E[sum over steps of (q + late_price x max(0, wait_s / slo -"
            " 1)) step_s] + rescale_cost x changes\nqueue' = max(0, queue + (rate - q / demand)"
            " step_s); wait_s = trigger_s + batch_s + queue x demand / q\nrate(t + h) ="
            " input_rows_per_s x rate(s + h) / rate(s), a scenario for each s of the past"
        ),
        source=(
            "Ghanbari et al., Optimal Autoscaling in a IaaS Cloud, ICAC 2012; scenario approach to"
            " stochastic model predictive control"
        ),
        fails_when=(
            "the load does what its recorded past has not shown (the first burst); start_s is not"
            " the start time of executors"
        ),
    )
    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    slo: float = parameter(10.0, "latency objective", "s", above=0)
    late_price: float = parameter(
        50.0, "executors that a second of late rows is worth", "executors"
    )
    rescale_cost: float = parameter(30.0, "what a change of size costs", "executor-s")
    step_s: float = parameter(15.0, "time between decisions", "s", above=0)
    steps: int = parameter(20, "length of the horizon", "step_s", at_least=2, at_most=100)
    start_s: float = parameter(10.0, "time until new executors work", "s")
    usable: float = parameter(0.9, "share of a slot's time that rows get", "1", above=0)
    max_executors: int = parameter(
        64, "largest size that is considered", "executors", at_least=1, at_most=500
    )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the first size of the cheapest plan; keep the size between two steps."""
        now, rate, executors = observation.t_s, arrivals_per_s(observation), observation.executors
        queue = queued_rows(observation)
        if rate is None or queue is None or not executors:
            why = "size kept: arrival rate, lag or executors are unknown"
            return hold(observation, why), memory
        state: dict[str, Any] = {
            "series": with_rate(memory.get("series", {}), now, rate, self.step_s, _MOST),
            "demands": with_demand(memory.get("demands", ()), observation),
        }
        demand, decided_s = demand_of(state["demands"]), memory.get("decided_s", -math.inf)
        if demand is None:
            return hold(observation, "size kept: no service demand was measured yet"), state
        if 0 <= now - decided_s < self.step_s:
            return hold(observation, "between two decisions"), {**state, "decided_s": decided_s}
        state["decided_s"] = now
        # The past gives the shape of a scenario, the current rate its level.
        paths = rate * scenarios(state["series"]["means"], self.steps)
        per_executor = self.usable * (observation.slots_per_executor or 1) / demand
        return self._planned(observation, paths, queue, per_executor), state

    def _planned(
        self, observation: Observation, paths: Floats, queue: float, per_executor: float
    ) -> Decision:
        size, working = observation.size or 1, observation.executors or 1
        trigger_s = observation.trigger_s or 0.0
        # The rows of one trigger interval wait for the trigger, not for executors.
        waiting = max(0.0, queue - float(paths[0, 0]) * trigger_s)
        sizes = self._sizes(size, float(paths.max()), waiting, per_executor)
        first, later = (grid.ravel() for grid in np.meshgrid(sizes, sizes, indexing="ij"))
        # Rounded up: a plan must not count on executors that register within the step.
        arrive = math.ceil(self.start_s / self.step_s)
        price = self.rescale_cost * ((first != size) * 1.0 + (later != first))
        queues = np.full((len(paths), len(first)), waiting)
        for step in range(self.steps):
            targets = first if step < self.steps // 2 else later
            before = first if step >= self.steps // 2 else np.full(len(first), working)
            since = step if step < self.steps // 2 else step - self.steps // 2
            # Removed executors stop at once and added ones start later: the smaller number works.
            works = np.minimum(targets, before) if since < arrive else targets
            does = works * per_executor
            queues = np.maximum(0.0, queues + (paths[:, [step]] - does) * self.step_s)
            wait_s = trigger_s + (observation.batch_s or 0.0) + queues / does
            # Only the wait beyond the objective costs, as the mean over the scenarios.
            late = np.maximum(0.0, wait_s / self.slo - 1).mean(axis=0)
            price = price + self.step_s * (targets + self.late_price * late)
        # The last term breaks ties in favor of the smallest change.
        best = int(np.argmin(np.round(price, 6) + 1e-3 * np.abs(first - size)))
        target = int(first[best])
        evidence = {
            "cost": float(price[best]),
            "later": int(later[best]),
            "rows_per_s_highest": float(paths.max()),
            "rows_per_s_per_executor": per_executor,
            "scenarios": len(paths),
        }
        reason = (
            f"{counted(target, 'executor')}, {int(later[best])} later, cost least over"
            f" {counted(len(paths), 'scenario')} of up to {paths.max():,.0f} rows/s"
        )
        return Decision(target=target, reason=reason, evidence=evidence)

    def _sizes(self, size: int, highest: float, waiting: float, per_executor: float) -> Floats:
        """Return the candidate sizes, up to the one that carries the highest rate and clears the
        queue within one step.
        """
        most = math.ceil(min((highest + waiting / self.step_s) / per_executor, 1e6)) + 1
        most = min(self.max_executors, max(most, size))
        # About 33 sizes per dimension, because the number of plans is their square.
        every = max(1, most // 32)
        return np.array(sorted({*range(1, most + 1, every), most, min(size, most)}), dtype=float)


def scenarios(means: Sequence[float], steps: int) -> Floats:
    """Return paths of the future rate relative to the current one, one per row: the course after
    each earlier moment, and a constant one.
    """
    stays = np.ones((1, steps))
    past = np.array(means, dtype=float)
    origins = np.arange(max(0, len(past) - steps))
    # A rate of 0 has no relative course.
    origins = origins[past[origins] > 0][-_SCENARIOS:]
    if not len(origins):
        return stays
    replayed: Floats = past[origins[:, None] + np.arange(1, steps + 1)] / past[origins][:, None]
    return np.vstack((stays, replayed))
