"""The facts and forecasts that a decision is made from, as one frozen value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rheostat.capacity.batch import BatchModel
from rheostat.capacity.identify import Identified
from rheostat.capacity.rescale_cost import RescaleCost
from rheostat.capacity.rollout import Backlog
from rheostat.model import Observation
from rheostat.policies.predictive.state import State
from rheostat.signals.forecasts.forecast import Forecast, forecast
from rheostat.signals.forecasts.rate_history import Rates
from rheostat.signals.forecasts.surges import Surges, surges
from rheostat.signals.lag import queued_rows
from rheostat.tuning import TUNING, Tuning


class LateShares(NamedTuple):
    """Shares of late rows: of all rows in the long run, and of the rows of five minutes."""

    overall: float
    in_window: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Facts and forecasts at a decision."""

    now: Observation
    tuning: Tuning
    state: State
    model: BatchModel
    spread: float
    """Standard deviation of log(batch time / model)."""

    forecast: Forecast
    surges: Surges
    """Rises of the rate that are possible before executors return after a scale-in."""

    back_s: float
    """``within_s`` after a scale-in, with a larger margin for the start time."""

    is_young: bool
    """Whether the job is in warm-up: most of its load's behaviour is unknown."""

    backlog: Backlog
    sizes: Sequence[int]
    """Candidate sizes: each is faster than the ones before it."""

    rescale_cost: float
    """Slot-seconds."""

    slo_s: float
    aim_s: float
    """Target latency: a share of the SLO, or two trigger intervals if the SLO is unattainable."""

    is_attainable: bool
    """Whether trigger interval and fixed cost of a batch leave time within the SLO."""

    longer: float
    """Factor on predicted batch times, for their spread."""

    error_budget: LateShares
    """The shares of rows that may still be late."""

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
    def cost(self) -> RescaleCost:
        """Start time of executors and their cold batch."""
        return self.state.rescale

    @property
    def start_s(self) -> float:
        """Start time of executors used for planning."""
        return self.cost.start_within_s(self.tuning.start_z)

    @property
    def within_s(self) -> float:
        """Seconds until executors requested at the next decision have started and begin a batch."""
        return self.start_s + self.state.tick_s + self.trigger_s

    @property
    def horizon_s(self) -> float:
        """How long a size must suffice: until another one can be ready, plus the time for which an
        idle executor costs less than another rescale.
        """
        return self.within_s + self.rescale_cost / self.slots

    @property
    def larger(self) -> list[int]:
        """The candidates above the target in force."""
        return [q for q in self.sizes if q > self.size]

    @property
    def smaller(self) -> list[int]:
        """The candidates below the target in force."""
        return [q for q in self.sizes if q < self.size]

    @property
    def is_limited(self) -> bool:
        """Whether the rows limit of a batch binds: such a batch ends before its trigger."""
        if self.state.rows_limit is None:
            return False
        batch_s = self.model.batch_s(self.state.rows_limit, self.size * self.slots)
        return batch_s * self.longer < self.trigger_s

    @property
    def tolerated_rows(self) -> float:
        """Late rows that are ignored, because the simulation is not more accurate."""
        return self.tuning.late_s * self.rate

    def sustained(self, executors: int) -> float:
        """Return the highest constant rate at which no row is late with that many executors."""
        return self.model.sustained_rows_per_s(
            executors * self.slots, self.aim_s, self.trigger_s, self.longer
        )


def situation(
    now: Observation,
    state: State,
    known: Identified,
    rates: Rates,
    *,
    slo_s: float,
    rescale_cost: float,
    margin: float,
    peak: float = 0.0,
    tuning: Tuning,
) -> Situation:
    """Return the situation. ``peak`` is a rate that may occur at any time, 0 if unknown.

    During warm-up the rate may reach what the first size of the job sustains, because a user chose
    that size.
    """
    slots, trigger_s = now.slots_per_executor or 1, now.trigger_s or 0.0
    cost, model = state.rescale, known.model
    headroom = tuning.warm_up_headroom * rates.unknown * min(1.0, cost.start_s / slo_s)
    target_s = _target_s(slo_s, trigger_s, model.fixed_s, headroom, tuning)
    aim_s = 2.0 * trigger_s if target_s is None else target_s
    longer = math.exp(margin * known.spread)
    rate = now.input_rows_per_s or 0.0
    first_slots = (state.first_size or 1) * slots
    expected = model.sustained_rows_per_s(first_slots, aim_s, trigger_s, longer)
    back_s = cost.start_within_s(tuning.start_z_surge) + state.tick_s + trigger_s
    return Situation(
        now=now,
        tuning=tuning,
        state=state,
        model=model,
        spread=known.spread,
        forecast=forecast(rates, state.fits),
        surges=surges(rates, back_s, expected=expected, announced=peak),
        back_s=back_s,
        is_young=rates.is_young,
        backlog=waiting(now, model, rate, longer, tuning),
        sizes=_sizes(now, model, state, rate, aim_s),
        rescale_cost=rescale_cost,
        slo_s=slo_s,
        aim_s=aim_s,
        is_attainable=target_s is not None,
        longer=longer,
        error_budget=error_budget(state, tuning),
    )


def _target_s(
    slo_s: float, trigger_s: float, fixed_s: float, headroom: float, tuning: Tuning
) -> float | None:
    """Return the target latency, lower by ``headroom`` (a share of the SLO) as far as a size can
    meet it; None if no size meets the SLO.

    A row waits for its trigger, then for its batch; queued batches need twice their fixed cost.
    """
    target_s, least_s = tuning.latency_target * slo_s, tuning.fixed_cost_factor * fixed_s
    if target_s < min(2.0 * trigger_s, trigger_s + least_s / 2):
        return None
    return max(target_s - headroom * slo_s, min(target_s, max(2.0 * trigger_s, least_s)))


def _sizes(
    now: Observation, model: BatchModel, state: State, rate: float, aim_s: float
) -> list[int]:
    slots, size = now.slots_per_executor or 1, now.size or 1
    most = max((stage.tasks for stage in model.stages), default=1)
    most = min(most, 64 * slots, max(4 * size * slots, 16))
    if state.ceiling is not None:
        most = min(most, state.ceiling * slots)
    rows = max(now.batch_rows or 0, rate * max(now.trigger_s or 0.0, aim_s / 4), 1.0)
    sizes = {math.ceil(useful / slots) for useful in model.worth_having(most, rows)}
    return sorted(sizes if state.ceiling is None else {*sizes, state.ceiling})


def waiting(
    now: Observation, model: BatchModel, rate: float, longer: float, tuning: Tuning = TUNING
) -> Backlog:
    """Return the backlog and the predicted rest of the running batch; without offsets of the source
    the backlog is the arrivals since that batch began.
    """
    if now.in_flight is None:
        return _between(now, rate)
    elapsed_s, trigger_s = now.in_flight.elapsed_s, now.trigger_s or 0.0
    slots = (now.executors or 1) * (now.slots_per_executor or 1)
    rows, queued = float(now.in_flight.rows or now.batch_rows or 0), queued_rows(now)
    left = rate * elapsed_s if queued is None else max(0.0, queued - rows)
    takes_s = model.batch_s(rows, slots) * longer
    ends_s = max(takes_s - elapsed_s, tuning.overdue * elapsed_s)
    # The oldest row of a batch arrived when the previous batch was planned.
    before_s = max(trigger_s, now.batch_s or 0.0)
    return Backlog(
        rows=left,
        since_s=-elapsed_s,
        begins_s=max(ends_s, trigger_s - elapsed_s),
        ends_s=ends_s,
        running_rows=rows,
        oldest_s=-elapsed_s - before_s,
    )


def _between(now: Observation, rate: float) -> Backlog:
    trigger_s, queued = now.trigger_s or 0.0, queued_rows(now)
    rows = rate * trigger_s if queued is None else queued
    since_s = -rows / rate if rate > 0 else 0.0
    return Backlog(rows, since_s, max(0.0, trigger_s + since_s))


def error_budget(state: State, tuning: Tuning) -> LateShares:
    """Return the shares of rows that may still be late.

    The first five minutes of a job are most of its rows; their budget is little more than the
    long-run one.
    """
    hour, window = state.hour, state.window
    age = hour.rows / window.rows if window.rows > 0 else 1.0
    in_window = tuning.late_share * min(10.0, age)
    return LateShares(
        max(0.0, tuning.late_share - hour.late_share), max(0.0, in_window - window.late_share)
    )
