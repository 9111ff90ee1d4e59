"""The facts and forecasts that a decision is made from, as one frozen value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.capacity.identify import Identified
from rheostat.capacity.need import sustained_rows_per_s, worth_having
from rheostat.capacity.rescale_cost import RescaleCost
from rheostat.capacity.rollout import Backlog
from rheostat.model import Observation
from rheostat.policies.predictive.backlog import waiting
from rheostat.policies.predictive.error_budget import error_budget
from rheostat.policies.predictive.state import State
from rheostat.policies.predictive.tuning import Tuning
from rheostat.signals.forecasts.forecast import Forecast
from rheostat.signals.forecasts.rate_history import Rates
from rheostat.signals.forecasts.surges import Surges, surges
from rheostat.signals.forecasts.weighted_experts import forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Facts and forecasts at a decision."""

    now: Observation
    tuning: Tuning
    model: Identified
    cost: RescaleCost
    forecast: Forecast
    surges: Surges
    """Rises of the rate that are possible before executors return after a scale-in."""

    is_young: bool
    """Whether the job is in warm-up: most of its load's behaviour is unknown."""

    ceiling: int | None
    """The most executors that the cluster granted, if a request ended below its target."""

    backlog: Backlog
    tick_s: float
    sizes: Sequence[int]
    """Candidate sizes: each is faster than the ones before it."""

    pending: Sequence[tuple[float, int]]
    """Requests whose executors have not started: (seconds from now, executors then)."""

    is_start_lost: bool
    """Whether requested executors have not started for a long time."""

    slo_s: float
    aim_s: float
    """Target latency: a share of the SLO, or two trigger intervals if the SLO is unattainable."""

    is_attainable: bool
    """Whether trigger interval and fixed cost of a batch leave time within the SLO."""

    longer: float
    """Factor on predicted batch times, for their spread."""

    late_share: float
    late_in_window: float
    """Remaining error budgets as shares of the rows, in the long run and of five minutes."""

    rows_limit: int | None
    """Detected rows limit of a batch."""

    @property
    def size(self) -> int:
        """The target in force."""
        return self.now.size or 1

    @property
    def slots(self) -> int:
        """Slots of an executor."""
        return self.now.slots_per_executor or 1

    @property
    def trigger_s(self) -> float:
        """Trigger interval; 0 if batches run back to back."""
        return self.now.trigger_s or 0.0

    @property
    def rate(self) -> float:
        """Present arrival rate, in rows/s."""
        return self.now.input_rows_per_s or 0.0

    @property
    def start_s(self) -> float:
        """Start time of executors used for planning."""
        return self.cost.start_within_s(self.tuning.start_z)

    @property
    def within_s(self) -> float:
        """Seconds until executors requested at the next decision have started and begin a batch."""
        return self.start_s + self.tick_s + self.trigger_s

    @property
    def back_s(self) -> float:
        """The same after a scale-in, with a larger margin for the start time."""
        start_s = self.cost.start_within_s(self.tuning.start_z_surge)
        return start_s + self.tick_s + self.trigger_s

    @property
    def is_limited(self) -> bool:
        """Whether the rows limit of a batch binds: such a batch ends before its trigger."""
        if self.rows_limit is None:
            return False
        batch_s = self.model.model.batch_s(self.rows_limit, self.size * self.slots)
        return batch_s * self.longer < self.trigger_s

    @property
    def tolerated_rows(self) -> float:
        """Late rows that are ignored, because the simulation is not more accurate."""
        return self.tuning.late_s * self.rate

    def sustained(self, executors: int) -> float:
        """Return the highest constant rate at which no row is late with that many executors."""
        return sustained_rows_per_s(
            self.model.model,
            executors * self.slots,
            self.aim_s,
            self.trigger_s,
            self.longer,
        )


def situation(
    now: Observation,
    state: State,
    model: Identified,
    rates: Rates,
    *,
    slo_s: float,
    margin: float,
    peak: float = 0.0,
    tuning: Tuning,
) -> Situation:
    """Return the situation. ``peak`` is a rate that may occur at any time, 0 if unknown.

    During warm-up the rate may reach what the first size of the job sustains, because a user chose
    that size.
    """
    slots, trigger_s = now.slots_per_executor or 1, now.trigger_s or 0.0
    cost = state.rescale
    target_s = tuning.latency_target * slo_s
    # A row waits for its trigger, then for its batch; queued batches need twice their fixed cost.
    fixed_s = tuning.fixed_cost_factor * model.model.fixed_s
    is_attainable = target_s >= min(2.0 * trigger_s, trigger_s + fixed_s / 2)
    young = tuning.warm_up_headroom * rates.unknown * min(1.0, cost.start_s / slo_s)
    least_s = min(target_s, max(2.0 * trigger_s, fixed_s))
    aim_s = max(target_s - young * slo_s, least_s) if is_attainable else 2.0 * trigger_s
    late_share, late_in_window = error_budget(state, tuning)
    longer = math.exp(margin * model.spread)
    rate = now.input_rows_per_s or 0.0
    first_slots = (state.first_size or 1) * slots
    expected = sustained_rows_per_s(model.model, first_slots, aim_s, trigger_s, longer)
    back_s = cost.start_within_s(tuning.start_z_surge) + state.tick_s + trigger_s
    return Situation(
        now=now,
        tuning=tuning,
        model=model,
        cost=cost,
        forecast=forecast(rates, state.fits),
        surges=surges(rates, back_s, expected=expected, announced=peak),
        is_young=rates.unknown > tuning.warm_up_unknown,
        ceiling=state.ceiling,
        backlog=waiting(now, model.model, rate, longer),
        tick_s=state.tick_s,
        sizes=_sizes(now, model, state, rate, aim_s),
        pending=cost.pending(now.t_s, tuning.start_z),
        is_start_lost=cost.is_lost,
        slo_s=slo_s,
        aim_s=aim_s,
        is_attainable=is_attainable,
        longer=longer,
        late_share=late_share,
        late_in_window=late_in_window,
        rows_limit=state.rows_limit,
    )


def _sizes(
    now: Observation, model: Identified, state: State, rate: float, aim_s: float
) -> list[int]:
    slots, size = now.slots_per_executor or 1, now.size or 1
    most = max((stage.tasks for stage in model.model.stages), default=1)
    most = min(most, 64 * slots, max(4 * size * slots, 16))
    if state.ceiling is not None:
        most = min(most, state.ceiling * slots)
    rows = max(now.batch_rows or 0, rate * max(now.trigger_s or 0.0, aim_s / 4), 1.0)
    sizes = {math.ceil(useful / slots) for useful in worth_having(model.model, most, rows)}
    return sorted(sizes if state.ceiling is None else {*sizes, state.ceiling})
