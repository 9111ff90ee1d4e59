"""Rheostat's own policy: what a batch costs, how long an executor takes to come, and what the load
does next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from rheostat.capacity.identify import Identified, identified, with_batch
from rheostat.capacity.need import binding, closed_form, sustained_rows_per_s, worth_having
from rheostat.capacity.rescale_cost import (
    RescaleCost,
    rescale_cost,
    with_cold_batch,
    with_sight,
)
from rheostat.capacity.rollout import Arrivals, Backlog, Course, Size, rollout
from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.about import About
from rheostat.policies.measured_throughput import MeasuredThroughput
from rheostat.policies.sample_order import in_order
from rheostat.signals.forecast import HORIZONS_S, Forecast, forecast, refit
from rheostat.signals.forecast_history import Rates, with_rate
from rheostat.signals.lag import queued_rows

_INVALID = math.log(1.5)
"""Where five batches are off by more in the median, the model decides nothing."""

_LATE_SHARE = 0.008
"""Of the 1 % of rows that may be late; the rest is for what the model does not know."""

_BUDGET_S = 3600.0
"""Rows that were late longer ago count e times less."""

_LATE_S = 0.1
"""Late rows of a rollout, in seconds of arrivals, that do not count: the model is no better."""

_JUMP_LATE_S = 6.0
"""The same of a jump that comes once in a hundred times, as far as the budget has them."""

_AIM = 0.95
"""Of the objective: batches that just keep it queue up at the least surprise."""

_HOLD_S = 120.0
"""A size that is asked for does for so long at least."""


@dataclass(frozen=True, slots=True)
class _Situation:
    """All that a decision is made from."""

    now: Observation
    model: Identified
    cost: RescaleCost
    coming: Forecast
    backlog: Backlog
    tick_s: float
    sizes: Sequence[int]
    slots: int
    """Of an executor."""

    trigger_s: float
    objective_s: float
    longer: float
    budget_rows: float
    ready_s: float
    """Until executors that were asked for before are there; 0 where none are missing."""


@dataclass(frozen=True, slots=True)
class Predictive:
    """executors = the fewest with which no row is late on the path of rates to come.

    A batch model is learnt from the run time of tasks (without stages: from batch times), a
    forecast from the history, and the time that executors take to come from their coming. Batches
    are then rolled out. Up, just in time: if rows would be late on the 90 % path before executors
    that are asked for at the next look could help, the cheapest size with which they are not. Down,
    if no row would be late on that path, few on the 99 % path although all executors are asked back
    as soon as it is seen, and what is saved until then exceeds the price of going and coming back.
    Few are what is left of the rows that may be late.

    Without telemetry the size is kept. Where five batches are off by half, ``measured-throughput``
    decides. Where the source tells no offsets, what waits is taken for what came since the batch
    began.
    """

    about: ClassVar[About] = About(
        formula=(
            "batch_s = F + sum over stages of max((f N + w rows) / (N / ceil(N / slots)), k (f + w"
            " rows / N))\nexecutors = min q: no row of the batches to come, at the forecast rates,"
            " is older than slo\nneeded = W rate / (1 - 2 F / slo), or W rate"
            " trigger_s / (min(usable trigger_s, slo - trigger_s) - F)"
        ),
        source=(
            "ours; ski-rental: Karlin et al., Competitive snoopy caching (1988); quantiles: Vovk et"
            " al., Algorithmic Learning in a Random World (2005)"
        ),
        fails_when=(
            "the load jumps for the first time, and executors take longer to come than the"
            " objective bears; rows become dearer from one batch to the next"
        ),
        steady=Observation(
            t_s=0.0,
            executors=4,
            trigger_s=1.0,
            batch_s=0.9,
            batch_rows=3000,
            processed_rows_per_s=3333.0,
            input_rows_per_s=3000.0,
            lag_rows=1500.0,
            lag_s=0.5,
        ),
    )
    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    slo: float = field(default=10.0, metadata={"help": "latency objective", "unit": "s"})
    rescale_cost: float = field(
        default=30.0, metadata={"help": "what a change of size costs", "unit": "slot-s"}
    )
    usable: float = field(
        default=1.0, metadata={"help": "share of an interval that batches may fill", "unit": "1"}
    )
    margin: float = field(
        default=0.5, metadata={"help": "reserve, in spreads of a batch time", "unit": "1"}
    )

    def __post_init__(self) -> None:
        for name in (entry.name for entry in fields(self) if entry.name != "margin"):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be above 0, but it is {getattr(self, name)}")

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the numbers it was computed from."""
        seen = _learn(observation, memory)
        seen |= self._late(observation, memory)
        simple = MeasuredThroughput(slo=self.slo)
        other, seen["simple"] = simple.decide(observation, memory.get("simple", {}))
        rate, executors = observation.input_rows_per_s, observation.executors
        if rate is None or not executors or "rates" not in seen:
            return hold(observation, "size kept: arrival rate or executors are unknown"), seen
        model = identified(seen.get("batches", {}))
        if model is None:
            return hold(observation, "size kept: no batch was measured yet"), seen
        if model.error > _INVALID:
            why = f"the batch model is off by {math.expm1(model.error):.0%}; {other.reason}"
            return Decision(target=other.target, reason=why, evidence=other.evidence), seen
        situation = self._situation(observation, seen, model, rate)
        seen["bound"] = situation.coming.p99[2]
        decision = self._decided(situation)
        seen["asked"] = [observation.size, decision.target]
        return decision, seen

    def _late(self, now: Observation, memory: Memory) -> dict[str, float]:
        """Return the rows of the last hours, and how many of them were late, by the mean latency of
        the last batch.
        """
        since_s = min(max(0.0, now.t_s - memory.get("newest_s", now.t_s)), 60.0)
        keep = math.exp(-since_s / _BUDGET_S)
        rows = (now.input_rows_per_s or 0.0) * since_s
        late = 0.0
        if now.latency_s is not None and now.batch_rows and now.input_rows_per_s:
            spread_s = max(now.batch_rows / now.input_rows_per_s, 1e-3)
            late = (now.latency_s + spread_s / 2 - self.slo) / spread_s
        return {
            "all_rows": keep * memory.get("all_rows", 0.0) + rows,
            "late_rows": keep * memory.get("late_rows", 0.0) + rows * min(1.0, max(0.0, late)),
        }

    def _situation(
        self, now: Observation, seen: Mapping[str, Any], model: Identified, rate: float
    ) -> _Situation:
        slots, trigger_s = now.slots_per_executor or 1, now.trigger_s or 0.0
        objective_s = max(_AIM * self.slo, 2.0 * trigger_s)
        longer = math.exp(self.margin * model.spread)
        coming = _jumping(forecast(Rates(seen["rates"]), seen["fits"]), seen)
        cost = rescale_cost(seen.get("rescale", {}))
        most = max((stage.tasks for stage in model.model.stages), default=1)
        most = min(most, 64 * slots, max(4 * (now.size or 1) * slots, 16))
        batch = max(now.batch_rows or 0, rate * max(trigger_s, objective_s / 4), 1.0)
        most = min(most, seen.get("ceiling", most) * slots)
        worth = {math.ceil(p / slots) for p in worth_having(model.model, most, batch)}
        sizes = sorted({*worth, seen["ceiling"]} if "ceiling" in seen else worth)
        asked_s = seen.get("rescale", {}).get("asked_s")
        gone_s = 0.0 if asked_s is None else now.t_s - asked_s
        ready_s = max(0.0, cost.start_within_s() - gone_s) if asked_s is not None else 0.0
        backlog = _backlog(now, model, rate, trigger_s, longer)
        return _Situation(
            now,
            model,
            cost,
            coming,
            backlog,
            seen["tick_s"],
            sizes,
            slots,
            trigger_s,
            objective_s,
            longer,
            max(0.0, _LATE_SHARE * seen["all_rows"] - seen["late_rows"]),
            ready_s,
        )

    def _decided(self, at: _Situation) -> Decision:
        size = at.now.size or 1
        arrivals = Arrivals(at.backlog, at.coming.path(at.coming.p90))
        within_s = at.cost.start_within_s() + at.tick_s + at.trigger_s
        standing = _course(at, arrivals, size, at.ready_s, within_s)
        evidence = self._evidence(at, standing)
        if standing.late_rows > _LATE_S * at.coming.p90[0]:
            return self._up(at, arrivals, standing, evidence)
        return self._down(at, arrivals, evidence)

    def _up(
        self, at: _Situation, arrivals: Arrivals, standing: Course, evidence: dict[str, Any]
    ) -> Decision:
        """Return the cheapest size that keeps the objective from when it can be there."""
        size, ready_s = at.now.size or 1, at.cost.start_within_s()
        until_s = ready_s + _HOLD_S
        more = [q for q in at.sizes if q > size]
        peak = _peak(at.coming, at.coming.p90, ready_s, ready_s + at.tick_s + at.trigger_s)
        courses = {q: _course(at, arrivals, q, ready_s, until_s) for q in more[-1:]}
        least = courses[more[-1]].late_rows if more else standing.late_rows
        for q in more:
            course = courses.get(q) or _course(at, arrivals, q, ready_s, until_s)
            if course.late_rows <= least + 3 * _LATE_S * peak:
                evidence["needed"] = q
                why = (
                    f"{q} executors are needed: in {standing.violation_s:.0f} s rows would be late"
                    f" with {size} ({peak:.0f} rows/s)"
                )
                return Decision(target=q, reason=why, evidence=evidence)
        best = more[-1] if more else size
        bound = binding(at.model.model, _batch_rows(at), size * at.slots, [])
        why = f"no size keeps the objective at {peak:.0f} rows/s; {best} comes nearest"
        if best == size:
            why = f"more executors will not help: {bound}; size kept"
        return Decision(target=best, reason=why, evidence=evidence)

    def _down(self, at: _Situation, arrivals: Arrivals, evidence: dict[str, Any]) -> Decision:
        size, start_s = at.now.size or 1, at.cost.start_within_s()
        back_s = start_s + at.tick_s + at.trigger_s
        jumping = Arrivals(at.backlog, at.coming.path(at.coming.p99))
        most = at.sizes[-1]
        allowed = min(at.budget_rows, _JUMP_LATE_S * _peak(at.coming, at.coming.p99, 0.0, back_s))
        best, saved = size, 0.0
        for q in [each for each in at.sizes if each < size]:
            dwell_s = _until_above(at.coming, at.coming.p90, self._sustained(at, q))
            price = 2 * self.rescale_cost + (size - q) * at.slots * at.cost.start_s
            saving = (size - q) * at.slots * dwell_s - price
            if saving <= saved:
                continue
            if _course(at, arrivals, q, 0.0, _HOLD_S).late_rows > _LATE_S * at.coming.p90[0]:
                continue
            if _back(at, jumping, q, most, back_s).late_rows <= allowed:
                best, saved = q, saving
        if best < size:
            evidence["needed"] = best
            why = f"{best} executors do: {saved:.0f} slot-seconds are saved until more are needed"
            return Decision(target=best, reason=why, evidence=evidence)
        why = f"size kept: no row will be late with {size}, and fewer would not pay"
        if at.now.lag_rows is None:
            why += "; the source does not tell what waits"
        return Decision(target=size, reason=why, evidence=evidence)

    def _sustained(self, at: _Situation, executors: int) -> float:
        return sustained_rows_per_s(
            at.model.model, executors * at.slots, at.objective_s, at.trigger_s, at.longer
        )

    def _evidence(self, at: _Situation, standing: Course) -> dict[str, Any]:
        place = min(
            range(len(HORIZONS_S)), key=lambda i: abs(HORIZONS_S[i] - at.cost.start_s - at.tick_s)
        )
        slots = closed_form(
            at.model.model,
            at.coming.p90[place + 1],
            at.objective_s,
            at.trigger_s,
            self.usable,
        )
        return {
            "forecast_rows_per_s_p50": at.coming.p50[place + 1],
            "forecast_rows_per_s_p90": at.coming.p90[place + 1],
            "forecast_rows_per_s_p99": at.coming.p99[place + 1],
            "needed": None if slots is None else math.ceil(slots / at.slots),
            "capacity_rows_per_s": self._sustained(at, at.now.size or 1),
            "late_share_ahead": standing.late_share,
            "start_s": at.cost.start_s,
            "spread": at.model.spread,
            "fixed_s": at.model.model.fixed_s,
        }


def _course(
    at: _Situation, arrivals: Arrivals, target: int, ready_s: float, until_s: float
) -> Course:
    """Return the course with ``target`` executors from ``ready_s`` on, those of now before it."""
    working = at.now.executors or 1
    sizes: list[Size] = []
    cold_s = at.cost.cold_s if target > working else 0.0
    if target > working and ready_s > 0:
        sizes.append((0.0, at.model.model.at(working * at.slots, at.longer), 0.0))
    sizes.append((ready_s, at.model.model.at(target * at.slots, at.longer), cold_s))
    return rollout(
        at.backlog,
        arrivals,
        sizes,
        trigger_s=at.trigger_s,
        objective_s=at.objective_s,
        until_s=until_s,
    )


def _back(at: _Situation, arrivals: Arrivals, fewer: int, most: int, back_s: float) -> Course:
    """Return the course with ``fewer`` executors until ``most`` are back."""
    sizes: list[Size] = [
        (0.0, at.model.model.at(fewer * at.slots, at.longer), 0.0),
        (back_s, at.model.model.at(most * at.slots, at.longer), at.cost.cold_s),
    ]
    return rollout(
        at.backlog,
        arrivals,
        sizes,
        trigger_s=at.trigger_s,
        objective_s=at.objective_s,
        until_s=back_s + at.objective_s + 60.0,
    )


def _batch_rows(at: _Situation) -> float:
    return max(float(at.now.batch_rows or 0), at.coming.p50[0] * max(at.trigger_s, 1.0))


def _peak(coming: Forecast, rates: Sequence[float], from_s: float, to_s: float) -> float:
    """Return the highest rate of a path between two times."""
    inside = [
        rate
        for t_s, rate in zip(coming.t_s, rates, strict=True)
        if from_s * 0.99 <= t_s <= to_s * 1.01
    ]
    return max(inside, default=0.0) or max(rates[0], rates[1])


def _until_above(coming: Forecast, rates: Sequence[float], limit: float) -> float:
    """Return when the rate rises above a limit; one that is above it must fall below it first."""
    below = False
    for t_s, rate in zip(coming.t_s, rates, strict=True):
        if rate > limit and (below or t_s > 120.0):
            return t_s
        below = below or rate <= limit
    return 2 * coming.t_s[-1] if below else 0.0


def _jumping(coming: Forecast, seen: Mapping[str, Any]) -> Forecast:
    """Return the forecast after a rate above all that was thought possible: of a jump between two
    looks the mean rate shows half.
    """
    rate, before, bound = seen["rates"]["rate"], seen.get("rate_before"), seen.get("bound")
    if before is None or bound is None or rate <= bound or rate <= before * 1.1:
        return coming
    more = rate - before
    return Forecast(
        coming.t_s,
        tuple(max(each, rate + more / 2) for each in coming.p50),
        tuple(max(each, rate + more) for each in coming.p90),
        tuple(max(each, rate + more) for each in coming.p99),
    )


def _backlog(
    now: Observation,
    model: Identified,
    rate: float,
    trigger_s: float,
    longer: float,
) -> Backlog:
    """Return what waits, and when the next batch can begin."""
    running, slots = now.in_flight, (now.executors or 1) * (now.slots_per_executor or 1)
    queued = queued_rows(now)
    if running is not None:
        rows = float(running.rows or now.batch_rows or 0)
        waiting = max(0.0, queued - rows) if queued is not None else rate * running.elapsed_s
        takes_s = model.model.batch_s(rows, slots) * longer
        ends_s = max(takes_s - running.elapsed_s, 0.1 * running.elapsed_s, 0.0)
        begins_s = max(ends_s, trigger_s - running.elapsed_s)
        since_s = -running.elapsed_s
        if rate > 0 and queued is not None:
            since_s = -min(running.elapsed_s, waiting / rate)
        oldest_s = -running.elapsed_s - max(trigger_s, rows / rate if rate > 0 else 0.0)
        return Backlog(waiting, since_s, begins_s, ends_s, rows, oldest_s)
    waiting = queued if queued is not None else rate * trigger_s
    since_s = -waiting / rate if rate > 0 else 0.0
    begins_s = max(0.0, trigger_s + since_s)
    return Backlog(waiting, since_s, begins_s)


def _learn(now: Observation, memory: Memory) -> dict[str, Any]:
    """Return what is remembered after this look."""
    seen: dict[str, Any] = {**memory}
    since_s = now.t_s - memory.get("newest_s", now.t_s)
    tick_s = memory.get("tick_s", 5.0)
    if 0 < since_s < 120:
        tick_s += 0.2 * (since_s - tick_s)
    seen["tick_s"] = tick_s
    if now.input_rows_per_s is not None:
        before = memory.get("rates")
        seen["rate_before"] = before["rate"] if before else None
        seen["rates"] = with_rate(before or {}, now.t_s, now.input_rows_per_s)
        rates = Rates(seen["rates"])
        turn = memory.get("turn", 0)
        fits = memory.get("fits", {})
        for place in (2 * turn, 2 * turn + 1):
            fits = refit(rates, fits, place % len(HORIZONS_S))
        seen["fits"], seen["turn"] = fits, (turn + 1) % len(HORIZONS_S)
    if not now.executors:
        return seen
    size, (before_size, asked) = now.size or 1, memory.get("asked") or [None, None]
    if asked is not None and before_size < size < asked:
        seen["ceiling"] = size
    elif size > memory.get("ceiling", size):
        del seen["ceiling"]
    if now.size is not None:
        seen["rescale"] = with_sight(memory.get("rescale", {}), now.t_s, now.size, now.executors)
    if now.executors != memory.get("executors", now.executors):
        seen["changed_s"], seen["cold"] = now.t_s, now.executors > memory["executors"]
    seen["executors"] = now.executors
    batch = [now.batch_s, now.batch_rows]
    if batch == memory.get("batch") or not now.batch_s or not now.batch_rows:
        return seen
    seen["batch"] = batch
    slots = now.executors * (now.slots_per_executor or 1)
    elapsed_s = now.in_flight.elapsed_s if now.in_flight else 0.0
    began_s = now.t_s - elapsed_s - max(now.batch_s, now.trigger_s or 0.0 if now.in_flight else 0.0)
    changed_s = min(seen.get("changed_s", -math.inf), now.t_s)
    settled_s = changed_s + 2 * max(now.batch_s, now.trigger_s or 0.0) + 1.0
    batches = memory.get("batches", {})
    if began_s >= settled_s:
        seen["batches"] = with_batch(batches, now.batch_s, now.batch_rows, slots, now.stages)
    elif seen.get("cold") and began_s + now.batch_s >= changed_s and (known := identified(batches)):
        longer_s = now.batch_s - known.model.batch_s(now.batch_rows, slots)
        seen["rescale"] = with_cold_batch(seen["rescale"], longer_s)
        seen["cold"] = False
    return seen
