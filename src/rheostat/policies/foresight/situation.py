"""All that a decision is made from, as one frozen value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.capacity.identify import Identified
from rheostat.capacity.need import sustained_rows_per_s, worth_having
from rheostat.capacity.rescale_cost import RescaleCost, on_their_way, rescale_cost
from rheostat.capacity.rollout import Backlog
from rheostat.model import Observation
from rheostat.policies.foresight.late_rows import HOUR_S, error_budget
from rheostat.policies.foresight.state import State
from rheostat.policies.foresight.tuning import Tuning
from rheostat.policies.foresight.waiting import overdue, overdue_s, rows_dominate, waiting
from rheostat.signals.forecasts.forecast import Forecast
from rheostat.signals.forecasts.rate_history import Rates
from rheostat.signals.forecasts.surges import Surges, surges
from rheostat.signals.forecasts.weighted_experts import forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known and forecast at a decision."""

    now: Observation
    tuning: Tuning
    model: Identified
    cost: RescaleCost
    coming: Forecast
    surges: Surges
    """What the rate may reach before executors could be back after a scale-in."""

    is_young: bool
    """Whether the job is in warm-up: most of its load is unknown."""

    ceiling: int | None
    """The most executors that were ever granted, where requests ended below their target."""

    backlog: Backlog
    tick_s: float
    sizes: Sequence[int]
    """Candidate sizes: each is faster than the ones before it."""

    way: Sequence[tuple[float, int]]
    """Requested executors that have not started: (seconds from now, executors then)."""

    lost: bool
    """Whether requested executors have not started for a long time."""

    aim_s: float
    """Target latency: a part of the SLO, or what two triggers or the fixed cost of batches take
    where that is more.
    """

    longer: float
    """Batch times over their predictions."""

    late_share: float
    late_in_window: float
    """The error budget that is left: shares of the rows."""

    rows_limit: int | None
    """The rows limit of a batch, where one shows."""

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
        """Trigger interval; 0 where batches run back to back."""
        return self.now.trigger_s or 0.0

    @property
    def rate(self) -> float:
        """Present arrival rate, in rows/s."""
        return self.now.input_rows_per_s or 0.0

    @property
    def start_s(self) -> float:
        """Start time of executors that is planned with."""
        return self.cost.start_within_s(self.tuning.start_z)

    @property
    def within_s(self) -> float:
        """Seconds until executors requested at the next decision help: they have started, and a
        batch has begun.
        """
        return self.start_s + self.tick_s + self.trigger_s

    @property
    def back_s(self) -> float:
        """The same with the margin that a scale-in needs."""
        start_s = self.cost.start_within_s(self.tuning.start_z_surge)
        return start_s + self.tick_s + self.trigger_s

    @property
    def late_by_change(self) -> float:
        """The share of the rows that one rescale an hour makes late."""
        return self.cost.late_s / HOUR_S

    @property
    def bears_change(self) -> bool:
        """Whether the late rows of another rescale are within the budget of rescales."""
        spent_s = self.cost.spent_late_s + self.cost.late_s
        return spent_s <= self.tuning.late_share_rescales * HOUR_S

    @property
    def is_limited(self) -> bool:
        """Whether the rows limit of a batch binds: such a batch ends before its trigger."""
        if self.rows_limit is None:
            return False
        batch_s = self.model.model.batch_s(self.rows_limit, self.size * self.slots)
        return batch_s * self.longer < self.trigger_s

    def sustained(self, executors: int) -> float:
        """Return the highest constant rate at which no row is late with so many executors."""
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
    """Return what is known and forecast. ``peak`` is a rate that may come at any time; 0: unknown.

    During warm-up the rate may reach what the job's first size sustains: it was configured for it.
    """
    slots, trigger_s = now.slots_per_executor or 1, now.trigger_s or 0.0
    cost = rescale_cost(state.rescale)
    young = tuning.warm_up_headroom * state.unknown_share * min(1.0, cost.start_s / slo_s)
    target_s = tuning.latency_target * slo_s
    least_s = max(2.0 * trigger_s, min(target_s, tuning.fixed_cost_factor * model.model.fixed_s))
    aim_s = max(target_s - young * slo_s, least_s)
    late_share, late_in_window = error_budget(state, tuning)
    longer = math.exp(margin * model.spread)
    over = overdue(now, model.model, state.running_on * slots, cost.cold_s)
    # A single outlier may be a busy machine, and over before executors start; rows have become
    # dearer where the batch before was one, too, or this one is overdue for that long.
    lasting = state.is_outlier or overdue_s(now, over) > cost.start_s
    is_dearer = over > tuning.outlier and lasting and rows_dominate(now, model.model)
    rate = now.input_rows_per_s or 0.0
    backlog = waiting(now, model.model, rate, longer)
    longer = longer * over if is_dearer else longer
    first_slots = (state.first_size or 1) * slots
    expected = sustained_rows_per_s(model.model, first_slots, aim_s, trigger_s, longer)
    back_s = cost.start_within_s(tuning.start_z_surge) + state.tick_s + trigger_s
    return Situation(
        now=now,
        tuning=tuning,
        model=model,
        cost=cost,
        coming=_after_jump(forecast(rates, state.fits), rate, state),
        surges=surges(rates, back_s, expected=expected, announced=peak),
        is_young=rates.unknown > tuning.warm_up_unknown,
        ceiling=state.ceiling,
        backlog=backlog,
        tick_s=state.tick_s,
        sizes=_sizes(now, model, state, rate, aim_s),
        way=on_their_way(state.rescale, now.t_s),
        lost=state.rescale["lost"],
        aim_s=aim_s,
        longer=longer,
        late_share=late_share,
        late_in_window=late_in_window,
        rows_limit=state.rows_limit,
    )


def _after_jump(coming: Forecast, rate: float, state: State) -> Forecast:
    """Return the forecast after a rate above what was expected to be exceeded once in ten times: of
    a jump between two observations the mean rate shows half.
    """
    before, bound = state.rate_before, state.bound_rows_per_s
    if before is None or bound is None or rate <= bound or rate <= before * 1.1:
        return coming
    more = rate - before
    return Forecast(
        coming.t_s,
        tuple(max(expected, rate + more / 2) for expected in coming.p50),
        tuple(max(expected, rate + more) for expected in coming.p90),
        tuple(max(expected, rate + more) for expected in coming.p99),
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
    worth = {
        math.ceil(slots_worth / slots) for slots_worth in worth_having(model.model, most, rows)
    }
    return sorted(worth if state.ceiling is None else {*worth, state.ceiling})
