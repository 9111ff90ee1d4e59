"""The default policy: it simulates the next micro-batches with each size on the forecast rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rheostat.capacity.binding import Bound, binding, larger_limit, raise_limit
from rheostat.capacity.identify import Identified
from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, parameter
from rheostat.policies.predictive.learning import WINDOW_S, updated
from rheostat.policies.predictive.reasons import Compared, compared, decision_evidence
from rheostat.policies.predictive.scenarios import on_path, risk, within_error_budget
from rheostat.policies.predictive.situation import Situation, situation
from rheostat.policies.predictive.state import State, is_current
from rheostat.policies.rates.measured_throughput import MeasuredThroughput
from rheostat.policies.sample_order import in_order
from rheostat.signals.forecasts.forecast import HORIZONS_S
from rheostat.tuning import TUNING, Tuning


@dataclass(frozen=True, slots=True)
class Predictive:
    """executors = the fewest with which no row is late at the forecast arrival rates.

    The policy simulates the next micro-batches with each size and compares the late rows. It learns
    three models of the job: the duration of a batch from the run time of its tasks (from batch
    times where stages are not observable), the arrival rates to come from their history, and the
    start time of executors from earlier starts.

    It scales out when rows would be late on the 90 % path of the forecast before executors that are
    requested at the next decision could help, and takes the cheapest size without late rows on the
    median path (on the 99 % path during warm-up). It also scales out when a surge, as it followed
    similar moments of the past or as configured by ``peak``, would exceed the error budget. It
    scales in to the size that saves most until more executors are needed, if that is more than a
    rescale costs and the same surges stay within the error budget.

    Without telemetry the size is kept. Until the batch model has predicted five batches, and while
    its median error is above 50 %, ``measured-throughput`` decides. Where the source
    reports no offsets, the backlog is estimated from the arrivals since the batch began.
    """

    about: ClassVar[About] = About(
        formula=(
            "batch_s = F + sum over stages of max((f N + w rows) / (N / ceil(N / slots)), k (f + w"
            " rows / N))\nexecutors = min q: no row of the batches to come, at the forecast rates,"
            " is older than slo"
        ),
        source=(
            "ours; ski-rental: Karlin et al., Competitive snoopy caching (1988); quantiles: Vovk et"
            " al., Algorithmic Learning in a Random World (2005)"
        ),
        fails_when=(
            "the load jumps for the first time, no peak is configured, and executors take longer to"
            " start than the objective allows; or the cost per row jumps between two batches"
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
    tuning: ClassVar[Tuning] = TUNING
    stages_every_s: ClassVar[float] = 30.0  # costs per row drift slowly

    slo: float = parameter(10.0, "latency objective", "s")
    rescale_cost: float = parameter(30.0, "cost of a rescale", "slot-s")
    margin: float = parameter(0.5, "reserve, in spreads of the batch time", "1")
    period_s: float = parameter(0.0, "period of the load; 0: detected", "s")
    peak: float = parameter(0.0, "highest arrival rate to prepare for; 0: unknown", "rows/s")

    def __post_init__(self) -> None:
        for name in ("slo", "rescale_cost"):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be above 0, but it is {getattr(self, name)}")
        if not 0 <= self.period_s < math.inf:
            raise BadInput(f"period_s must be 0 or more seconds, but it is {self.period_s}")
        if not 0 <= self.peak < math.inf:
            raise BadInput(f"peak must be 0 or more rows/s, but it is {self.peak}")

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the numbers it was computed from."""
        before = State.from_json(memory)
        state, rates = updated(observation, before, self.slo, self.period_s, self.tuning)
        simple = MeasuredThroughput(slo=self.slo)
        other, throughput = simple.decide(observation, before.throughput)
        state = replace(state, throughput=throughput)
        if rates is None or not observation.executors:
            decision = hold(observation, "size kept: arrival rate or executors are unknown")
            return decision, state.to_json()
        notes = [] if is_current(memory) else ["the memory of another version was dropped"]
        known = state.batches.identified(self.tuning)
        doubt = self._doubt(known)
        if known is None or doubt:
            notes.append(doubt)
            decision = _without_model(observation, state, other, known)
        else:
            at = situation(
                observation,
                state,
                known,
                rates,
                slo_s=self.slo,
                rescale_cost=self.rescale_cost,
                margin=self.margin,
                peak=self.peak,
                tuning=self.tuning,
            )
            notes += [] if at.is_attainable else [_unattainable(at)]
            decision = self._decided(at)
        decision = replace(decision, reason="; ".join([*notes, decision.reason]))
        return decision, replace(state, target_before=decision.target).to_json()

    def _doubt(self, known: Identified | None) -> str:
        """Return why the batch model does not decide; "" where it does."""
        if known is None:
            return "the batch model has no batch yet"
        if known.error is None:
            return "too few batches to tell whether the batch model is right"
        if known.error > math.log(self.tuning.clear_factor):
            return f"the batch model is off by {math.expm1(known.error):.0%}"
        return ""

    def _decided(self, at: Situation) -> Decision:
        """Scale out if the present size breaks a constraint; otherwise scale in if that pays."""
        present, surge_risk = on_path(at, at.forecast.p90, at.size, at.within_s), risk(at, at.size)
        evidence = decision_evidence(at, present.late_share, surge_risk)
        is_late = present.late_rows > at.tolerated_rows
        if is_late:
            when = f"in {present.violation_s:.0f} s" if present.violation_s >= 0.5 else "now"
            why = f"{present.late_rows:,.0f} rows would be late {when} on the 90 % path"
        elif not within_error_budget(surge_risk, at):
            rate = evidence["surge_rows_per_s"]
            why = f"a surge to {rate:,.0f} rows/s would exceed the error budget"
        else:
            return _scale_in(at, evidence)
        hindered = _hindered(at, why, evidence, is_surge=not is_late)
        return hindered or _scale_out(at, why, evidence, is_surge=not is_late)


def _scale_out(at: Situation, why: str, evidence: dict[str, Any], *, is_surge: bool) -> Decision:
    """Return the cheapest size that meets the objective once its executors have started."""
    # The next decision can still react to a rate above the median, but not during warm-up.
    name, path = ("99 %", at.forecast.p99) if at.is_young else ("median", at.forecast.p50)
    sizes, most, until_s = (at.size, *at.larger), at.larger[-1], at.horizon_s
    late_rows = {q: on_path(at, path, q, until_s).late_rows for q in sizes}
    counted_rows = "late rows"
    if min(late_rows[q] for q in at.larger) > at.tolerated_rows:
        # No size is in time, so the one that catches up first is better.
        until_s = max(until_s, WINDOW_S)
        results = {q: on_path(at, path, q, until_s) for q in sizes}
        late_rows = {q: result.late_rows + result.waiting_rows for q, result in results.items()}
        counted_rows = "late rows or rows still waiting"
    allowed_rows = min(late_rows[q] for q in at.larger) + at.tolerated_rows
    least = risk(at, most)
    sufficient = (
        q
        for q in at.larger
        if late_rows[q] <= allowed_rows and within_error_budget(risk(at, q), at, least)
    )
    target = next(sufficient, most)
    costs = [Compared(q, late_rows[q], risk(at, q).overall) for q in (target, at.size)]
    evidence |= {"needed": target, "scenario": f"surge and {name} path" if is_surge else name}
    texts = compared(at, costs, until_s, evidence, counted_rows)
    reason = f"{why}; {texts} ({name} path)"
    return Decision(target=target, reason=reason, evidence=evidence)


def _scale_in(at: Situation, evidence: dict[str, Any]) -> Decision:
    """Return the smaller size that saves most until more executors are needed, or the present one
    with the reason against the next smaller one.
    """
    best, best_s, saved_slot_s = at.size, 0.0, at.rescale_cost
    smaller: Compared | None = None
    refused = "no smaller size is faster"
    for q in at.smaller:
        suffices_s = at.forecast.until_above(at.sustained(q))
        saving_slot_s = (at.size - q) * at.slots * suffices_s
        if saving_slot_s <= saved_slot_s:
            refused = f"{q} would suffice {_for(suffices_s)} only, which pays no rescale"
            continue
        late_rows = on_path(at, at.forecast.p90, q, at.horizon_s).late_rows
        if late_rows > at.tolerated_rows:
            refused, smaller = "", Compared(q, late_rows)
        elif refusal := _refusal(at, q):
            refused = refusal
        else:
            best, best_s, saved_slot_s = q, suffices_s, saving_slot_s
            smaller = Compared(q, late_rows)
    evidence["scenario"] = "90 %"
    kept_rows = on_path(at, at.forecast.p90, at.size, at.horizon_s).late_rows
    costs = [Compared(at.size, kept_rows), *([smaller] if smaller else [])]
    if best < at.size:
        evidence["needed"] = best
        text = compared(at, costs[::-1], at.horizon_s, evidence)
        verb = "suffices" if best == 1 else "suffice"
        reason = f"{counted(best, 'executor')} {verb} {_for(best_s)} on the 90 % path; {text}"
        return Decision(target=best, reason=reason, evidence=evidence)
    text = compared(at, costs, at.horizon_s, evidence)
    later = "more can still start in time" if kept_rows > at.tolerated_rows else ""
    reason = "; ".join(part for part in ("size kept", text, later, refused) if part)
    if at.now.lag_rows is None:
        reason += "; the source reports no offsets"
    return Decision(target=at.size, reason=reason, evidence=evidence)


def _refusal(at: Situation, q: int) -> str:
    """Return why a scale-in to ``q`` executors is refused although no row would be late on the 90 %
    path; "" if it is not.
    """
    if at.sustained(q) >= at.sustained(at.size):
        return ""
    if not within_error_budget(risk(_with_longer_batches(at), q, with_unprecedented=True), at):
        return f"a surge would exceed the error budget with {q}"
    return ""


def _with_longer_batches(at: Situation) -> Situation:
    return replace(at, longer=at.longer * (1 + at.tuning.resolution))


def _hindered(
    at: Situation, why: str, evidence: dict[str, Any], *, is_surge: bool
) -> Decision | None:
    """Return the decision to keep the size where more executors do not start or do not help."""
    if at.cost.is_lost:
        return hold(at.now, f"{why}, but executors do not start; size kept", evidence)
    bound = _bound(at)
    if bound is not None and not _helps(at, is_surge=is_surge):
        why = f"more executors will not help, because {bound.reason}; size kept"
        kept = hold(at.now, why, {**evidence, "binds": bound.kind})
        return replace(kept, limiting_tasks=bound.tasks)
    if not at.larger:
        why = f"more executors will not help: there may be no more than {at.size}; size kept"
        return hold(at.now, why, evidence)
    if not is_surge and _is_over(at):
        return hold(at.now, f"{why}, but that ends before more start; size kept", evidence)
    return None


def _bound(at: Situation) -> Bound | None:
    """Return the binding constraint if the next larger size hardly gains; None otherwise, and if
    the cluster grants no more executors.
    """
    limit = at.state.rows_limit
    if limit is not None and at.is_limited:
        proposed = larger_limit(at.model, limit, at.rate, at.trigger_s, at.sizes, at.slots)
        advice = raise_limit(*proposed, at.trigger_s)
        return Bound("rows limit", f"{_limit(limit)}: {advice}")
    if not at.larger and at.state.ceiling is not None:
        return None
    rows = max(float(at.now.batch_rows or 0), at.rate * max(at.trigger_s, 1.0), at.backlog.rows)
    sizes = [q * at.slots for q in at.larger]
    return binding(at.model, rows, at.size * at.slots, sizes, at.now.batch_parts_s, at.tuning)


def _limit(rows: int) -> str:
    return f"the limit of {rows} rows a batch binds"


def _helps(at: Situation, *, is_surge: bool) -> bool:
    """Return whether the maximum size makes fewer rows late although the next larger one hardly
    shortens a batch: next to a large fixed cost that may be all the objective lacks.
    """
    if not at.larger or at.is_limited:
        return False
    kept, most = 1 - at.tuning.resolution, at.larger[-1]
    if is_surge:
        pairs = zip(risk(at, most), risk(at, at.size), strict=True)
        return any(there < kept * here for there, here in pairs)
    here, there = (on_path(at, at.forecast.p90, q, at.horizon_s).late_rows for q in (at.size, most))
    return there < kept * here


def _is_over(at: Situation) -> bool:
    """Return whether the cause of late rows ends before more executors start, as the long batch
    after a rescale does; not if the backlog grows until the end.
    """
    in_time_rows, until_s = at.rate * at.aim_s, max(at.horizon_s, WINDOW_S)
    here = on_path(at, at.forecast.p90, at.size, until_s)
    if here.waiting_rows > in_time_rows:
        return False
    acceptable_rows = (1 - at.tuning.resolution) * here.late_rows
    for q in reversed(at.larger):  # the largest helps most, if any does
        there = on_path(at, at.forecast.p90, q, until_s)
        if there.late_rows + max(0.0, there.waiting_rows - in_time_rows) <= acceptable_rows:
            return False
    return True


def _without_model(
    now: Observation, state: State, other: Decision, known: Identified | None
) -> Decision:
    """Return the decision of ``measured-throughput``, without scale-in until the batch model can be
    judged, and without scale-out if a rows limit binds.
    """
    if state.rows_limit and (now.batch_s or math.inf) < (now.trigger_s or 0.0):
        limit = _limit(state.rows_limit)
        return hold(now, f"more executors will not help, because {limit}; size kept")
    if (known is None or known.error is None) and other.target < (now.size or 1):
        return hold(now, "no scale-in during warm-up; size kept", other.evidence)
    return other


def _unattainable(at: Situation) -> str:
    """Return why no size meets the objective, and what would make it attainable."""
    return (
        f"no size meets an objective of {at.slo_s:g} s with a trigger interval of"
        f" {at.trigger_s:g} s, because rows wait for the next micro-batch: set the interval to"
        f" {at.slo_s / 4:g} s or less; rows are kept within {at.aim_s:g} s"
    )


def _for(lasts_s: float) -> str:
    """Return how long a size suffices, at most until the end of the forecast."""
    if lasts_s > HORIZONS_S[-1]:
        return f"for more than {HORIZONS_S[-1] / 60:.0f} min"
    return f"for {lasts_s:.0f} s"
