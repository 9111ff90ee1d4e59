"""All that a decision is made from, as one frozen value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rheostat.capacity.identify import Identified
from rheostat.capacity.need import sustained_rows_per_s, worth_having
from rheostat.capacity.rescale_cost import RescaleCost, on_their_way, rescale_cost
from rheostat.capacity.rollout import Backlog
from rheostat.model import Observation
from rheostat.policies.foresight.gain import cap
from rheostat.policies.foresight.late_rows import HOUR_S, may_be_late
from rheostat.policies.foresight.waiting import overdue, overdue_s, rows_dominate, waiting
from rheostat.signals.forecasts.forecast import Forecast, last_value
from rheostat.signals.forecasts.rate_history import Rates
from rheostat.signals.forecasts.surges import Surges, surges
from rheostat.signals.forecasts.weighted_experts import forecast

_AIM = 0.95
"""Of the objective: batches that just keep it queue up at the least surprise."""

_YOUNG = 0.35
"""Less is aimed at by so much of the objective while nothing is known of the load and executors
take as long to come as the objective: such a job has one try. With both at 10 s a steep day of four
minutes was in time on 24 of 30 seeds with 0, on all with 0.35, at 5 % more."""

_FIXED = 2.5
"""Times the fixed cost of a batch that is always aimed at: below twice it no size does."""

_BY_CHANGES = 0.004
"""Of the rows may be late by changes of size: half of those that may be late."""

OVERDUE = 1.5
"""A batch that lasts so many times as long as the model says is an outlier: rows are dearer now,
or the computer is busy. It is taken for dearer rows after another outlier, or once it is overdue
for longer than executors take to come: until then a busy computer may be over before they come. A
batch that is mostly fixed cost never is: few rows cannot have become so dear."""

_MAJORITY_SHARE = 0.5
"""Forecasts of a load of which more is unknown have hardly been tried: their worst counts."""

SURE = 2.0
"""Spreads of the start time: executors that are asked back must be there in 49 of 50 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known and foreseen at a look."""

    now: Observation
    model: Identified
    cost: RescaleCost
    coming: Forecast
    is_young: bool
    """Whether the load has not been watched for long."""

    surges: Surges | None
    """What the rate may reach before executors could be back; None where nothing is foreseen."""

    cap: int | None
    """The executors beyond which the last step has gained too little."""

    ceiling: int | None
    """The most executors that there may be, as far as it shows."""

    backlog: Backlog
    tick_s: float
    sizes: Sequence[int]
    """Executors that are worth having, up to the ceiling as far as it shows."""

    way: Sequence[tuple[float, int]]
    """Executors that were asked for: in so many seconds there are so many."""

    lost: bool
    """Whether executors that were asked for have not come in a long time."""

    aim_s: float
    """What latency is aimed at: a part of the objective, or what two triggers or the fixed cost of
    batches take where that is more.
    """

    longer: float
    """What batches are taken to last longer than the model says."""

    late_share: float
    late_in_window: float
    """The shares of rows that may still be late."""

    rows_limit: int | None
    """The rows that a batch may have, where it shows that there is a limit."""

    @property
    def size(self) -> int:
        """The size that stands."""
        return self.now.size or 1

    @property
    def slots(self) -> int:
        """Of an executor."""
        return self.now.slots_per_executor or 1

    @property
    def trigger_s(self) -> float:
        """0 where batches run back to back."""
        return self.now.trigger_s or 0.0

    @property
    def within_s(self) -> float:
        """The time in which executors that are asked for at the next look help: they have come, and
        a batch has begun.
        """
        return self.cost.start_within_s() + self.tick_s + self.trigger_s

    @property
    def back_s(self) -> float:
        """The same, to be relied on."""
        return self.cost.start_within_s(SURE) + self.tick_s + self.trigger_s

    @property
    def late_by_change(self) -> float:
        """The share of the rows that one change an hour makes late."""
        return self.cost.late_s / HOUR_S

    @property
    def bears_change(self) -> bool:
        """Whether what another change makes late is still within what changes may."""
        return self.cost.spent_late_s + self.cost.late_s <= _BY_CHANGES * HOUR_S

    @property
    def is_limited(self) -> bool:
        """Whether the rows that a batch may have bind: such a batch ends before its trigger."""
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
    state: Mapping[str, Any],
    model: Identified,
    *,
    slo_s: float,
    margin: float,
    rates: Rates | None,
    peak: float = 0.0,
) -> Situation:
    """Return what there is to know; without ``rates`` that of now is all that is to come.

    ``peak`` is a rate that may come at any time; 0: none was told. While little was seen of the
    load, it may reach what the job's first size does: its user has thought of something.
    """
    rate, slots, trigger_s = now.input_rows_per_s or 0.0, now.slots_per_executor or 1, now.trigger_s
    cost = rescale_cost(state["rescale"])
    young = _YOUNG * state["unknown"] * min(1.0, cost.start_s / slo_s)
    least_s = max(2.0 * (trigger_s or 0.0), min(_AIM * slo_s, _FIXED * model.model.fixed_s))
    aim_s = max((_AIM - young) * slo_s, least_s)
    late_share, late_in_window = may_be_late(state["late"])
    longer = math.exp(margin * model.spread)
    over = overdue(now, model.model, state["running_on"] * slots, cost.cold_s)
    lasting = bool(state.get("overran")) or overdue_s(now, over) > cost.start_s
    is_dearer = over > OVERDUE and lasting and rows_dominate(now, model.model)
    backlog = waiting(now, model.model, rate, longer)
    capped = cap(state.get("trial", {}), now, slo_s)
    current = Situation(
        now=now,
        model=model,
        cost=cost,
        coming=last_value(rate),
        is_young=False,
        surges=None,
        cap=capped,
        ceiling=state["ceiling"],
        backlog=backlog,
        tick_s=state["tick_s"],
        sizes=_up_to(_sizes(now, model, state, rate, aim_s), capped, now.size or 1),
        way=on_their_way(state["rescale"], now.t_s),
        lost=state["rescale"]["lost"],
        aim_s=aim_s,
        longer=longer * over if is_dearer else longer,
        late_share=late_share,
        late_in_window=late_in_window,
        rows_limit=state.get("rows_limit"),
    )
    if rates is None:
        return current
    coming = jumped(
        forecast(rates, state["fits"]), rate, state.get("rate_before"), state.get("bound")
    )
    young = rates.unknown > _MAJORITY_SHARE
    thought = current.sustained(state.get("first_size", 1))
    feared = surges(rates, current.back_s, expected=thought, announced=peak)
    return replace(current, coming=coming, is_young=young, surges=feared)


def jumped(coming: Forecast, rate: float, before: float | None, bound: float | None) -> Forecast:
    """Return the forecast after a rate above what was thought to come once in ten times
    (``bound``): of a jump between two looks the mean rate shows half.
    """
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
    now: Observation, model: Identified, state: Mapping[str, Any], rate: float, aim_s: float
) -> list[int]:
    slots, size = now.slots_per_executor or 1, now.size or 1
    most = max((stage.tasks for stage in model.model.stages), default=1)
    most = min(most, 64 * slots, max(4 * size * slots, 16))
    ceiling = state.get("ceiling")
    if ceiling is not None:
        most = min(most, ceiling * slots)
    rows = max(now.batch_rows or 0, rate * max(now.trigger_s or 0.0, aim_s / 4), 1.0)
    worth = {
        math.ceil(slots_worth / slots) for slots_worth in worth_having(model.model, most, rows)
    }
    return sorted(worth if ceiling is None else {*worth, ceiling})


def _up_to(sizes: list[int], capped: int | None, size: int) -> list[int]:
    return (
        sizes if capped is None else sorted({*(q for q in sizes if q <= max(capped, size)), capped})
    )
