"""The default policy: it simulates the next micro-batches with each size on the forecast rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rheostat.capacity.binding import Bound, binding, larger_limit, raise_limit
from rheostat.capacity.identify import Identified
from rheostat.capacity.rollout import Arrivals
from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, parameter
from rheostat.policies.predictive.learning import WINDOW_S, learnt
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
        state, rates = learnt(observation, before, self.slo, self.period_s, self.tuning)
        simple = MeasuredThroughput(slo=self.slo)
        other, throughput = simple.decide(observation, before.throughput)
        state = replace(state, throughput=throughput)
        if rates is None or not observation.executors:
            decision = hold(observation, "size kept: arrival rate or executors are unknown")
            return decision, state.to_json()
        model = state.batches.identified(self.tuning)
        doubt = self._doubt(model)
        if model is None or doubt is not None:
            decision = _without_model(observation, state, other, model)
            decision = replace(decision, reason=f"{doubt}; {decision.reason}")
        else:
            at = situation(
                observation,
                state,
                model,
                rates,
                slo_s=self.slo,
                margin=self.margin,
                peak=self.peak,
                tuning=self.tuning,
            )
            decision = self._decided(at)
            if not at.is_attainable:
                decision = replace(decision, reason=f"{_unattainable(at)}; {decision.reason}")
        if not is_current(memory):
            dropped = "the memory of another version was dropped"
            decision = replace(decision, reason=f"{dropped}; {decision.reason}")
        kept = replace(
            state,
            size_before=observation.size,
            target_before=decision.target,
        )
        return decision, kept.to_json()

    def _doubt(self, model: Identified | None) -> str | None:
        """Return why the batch model does not decide; None where it does."""
        if model is None:
            return "the batch model has no batch yet"
        if model.error is None:
            return "too few batches to tell whether the batch model is right"
        if model.error > math.log(self.tuning.clear_factor):
            return f"the batch model is off by {math.expm1(model.error):.0%}"
        return None

    def _decided(self, at: Situation) -> Decision:
        arrivals = _on_path(at, at.forecast.p90)
        present = on_path(at, arrivals, at.size, at.within_s)
        evidence = decision_evidence(at, present.late_share)
        expected, worst = risk(at, at.size)
        evidence |= {"surge_late_share": expected, "surge_late_share_window": worst}
        if present.late_rows > at.tolerated_rows:
            why = f"rows would be late in {present.violation_s:.0f} s on the 90 % path"
            return self._up(at, why, evidence, is_surge=False)
        if not within_error_budget((expected, worst), at):
            rate = evidence["surge_rows_per_s"]
            why = f"a surge to {rate:,.0f} rows/s would exceed the error budget"
            return self._up(at, why, evidence, is_surge=True)
        return self._down(at, arrivals, evidence)

    def _up(self, at: Situation, why: str, evidence: dict[str, Any], *, is_surge: bool) -> Decision:
        """Return the cheapest size that meets the objective once its executors have started."""
        until_s = self._horizon_s(at)
        more = [q for q in at.sizes if q > at.size]
        if at.cost.is_lost:
            return hold(at.now, f"{why}, but executors do not start; size kept", evidence)
        if (bound := _bound(at, more)) is not None and not _helps(
            at, more, until_s, is_surge=is_surge
        ):
            why = f"more executors will not help, because {bound.reason}; size kept"
            kept = hold(at.now, why, {**evidence, "binds": bound.kind})
            return replace(kept, limiting_tasks=bound.tasks)
        if not more:
            why = f"more executors will not help: there may be no more than {at.size}; size kept"
            return hold(at.now, why, evidence)
        if not is_surge and _is_over(at, more, until_s):
            return hold(at.now, f"{why}, but that ends before more start; size kept", evidence)
        least = risk(at, more[-1])
        # The next decision can still react to a rate above the median, but not during warm-up.
        name, path = ("99 %", at.forecast.p99) if at.is_young else ("median", at.forecast.p50)
        arrivals = _on_path(at, path)
        late_rows = {q: on_path(at, arrivals, q, until_s).late_rows for q in (at.size, *more)}
        if min(late_rows[q] for q in more) > at.tolerated_rows:
            # No size is in time, so the one that catches up first is better.
            until_s = max(until_s, WINDOW_S)
            late_rows = {
                q: (ahead := on_path(at, arrivals, q, until_s)).late_rows + ahead.waiting_rows
                for q in late_rows
            }
        allowed = min(late_rows[q] for q in more) + at.tolerated_rows
        target = next(
            q
            for q in more
            if q == more[-1]
            or (late_rows[q] <= allowed and within_error_budget(risk(at, q), at, least))
        )
        costs = [Compared(q, late_rows[q], risk(at, q)[0]) for q in (target, at.size)]
        evidence |= {"needed": target, "scenario": f"surge and {name} path" if is_surge else name}
        reason = f"{why}; {compared(at, costs, until_s, evidence)} ({name} path)"
        return Decision(target=target, reason=reason, evidence=evidence)

    def _horizon_s(self, at: Situation) -> float:
        """Return how long a size must suffice: until another one can be ready, plus the time for
        which an idle executor costs less than another rescale.
        """
        return at.within_s + self.rescale_cost / at.slots

    def _down(self, at: Situation, arrivals: Arrivals, evidence: dict[str, Any]) -> Decision:
        """Return the smaller size that saves most until more executors are needed, or the present
        one with the reason against the next smaller one.
        """
        until_s, refused = self._horizon_s(at), "no smaller size is faster"
        best, saved, costs = at.size, self.rescale_cost, [Compared(at.size, 0.0)]
        best_s = 0.0
        for q in (fewer for fewer in at.sizes if fewer < at.size):
            suffices_s = at.forecast.until_above(at.sustained(q), at.tuning.soon_s)
            saving = (at.size - q) * at.slots * suffices_s
            if saving <= saved:
                refused = f"{q} would suffice {_for(suffices_s)} only, which pays no rescale"
                continue
            ahead = on_path(at, arrivals, q, until_s)
            if ahead.late_rows > at.tolerated_rows:
                refused, costs[1:] = "", [Compared(q, ahead.late_rows)]
            elif refusal := _refusal(at, q):
                refused = refusal
            else:
                best, saved, costs[1:] = q, saving, [Compared(q, ahead.late_rows)]
                best_s = suffices_s
        evidence["scenario"] = "90 %"
        if best < at.size:
            evidence["needed"] = best
            text = compared(at, costs[::-1], until_s, evidence)
            verb = "suffices" if best == 1 else "suffice"
            reason = f"{counted(best, 'executor')} {verb} {_for(best_s)} on the 90 % path; {text}"
            return Decision(target=best, reason=reason, evidence=evidence)
        text = compared(at, costs, until_s, evidence)
        reason = "; ".join(part for part in ("size kept", text, refused) if part)
        if at.now.lag_rows is None:
            reason += "; the source reports no offsets"
        return Decision(target=at.size, reason=reason, evidence=evidence)


def _without_model(
    now: Observation, state: State, other: Decision, model: Identified | None
) -> Decision:
    """Return the decision of ``measured-throughput``, without scale-in until the batch model can be
    judged, and without scale-out if a rows limit binds.
    """
    if state.rows_limit and (now.batch_s or math.inf) < (now.trigger_s or 0.0):
        limit = _limit(state.rows_limit).reason
        return hold(now, f"more executors will not help, because {limit}; size kept")
    if (model is None or model.error is None) and other.target < (now.size or 1):
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


def _on_path(at: Situation, rates: Sequence[float]) -> Arrivals:
    return Arrivals(at.backlog, at.forecast.path(rates))


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


def _helps(at: Situation, more: Sequence[int], until_s: float, *, is_surge: bool) -> bool:
    """Return whether the maximum size makes fewer rows late although the next larger one hardly
    shortens a batch: next to a large fixed cost that may be all the objective lacks.
    """
    if not more or at.is_limited:
        return False
    kept = 1 - at.tuning.resolution
    if is_surge:
        pairs = zip(risk(at, more[-1]), risk(at, at.size), strict=True)
        return any(most < kept * now for most, now in pairs)
    arrivals = _on_path(at, at.forecast.p90)
    here, there = (on_path(at, arrivals, q, until_s).late_rows for q in (at.size, more[-1]))
    return there < kept * here


def _is_over(at: Situation, more: Sequence[int], until_s: float) -> bool:
    """Return whether the cause of late rows ends before more executors start, as the long batch
    after a rescale does; not if the backlog grows until the end.
    """
    arrivals = _on_path(at, at.forecast.p90)
    in_time, lasts_s = at.forecast.p90[0] * at.aim_s, max(until_s, WINDOW_S)
    here = on_path(at, arrivals, at.size, lasts_s)
    if here.waiting_rows > in_time:
        return False
    acceptable_rows = (1 - at.tuning.resolution) * here.late_rows
    for q in reversed(more):  # the largest helps most, if any does
        there = on_path(at, arrivals, q, lasts_s)
        if there.late_rows + max(0.0, there.waiting_rows - in_time) <= acceptable_rows:
            return False
    return True


def _limit(rows: int) -> Bound:
    return Bound("rows limit", f"the limit of {rows} rows a batch binds")


def _bound(at: Situation, more: Sequence[int]) -> Bound | None:
    """Return the binding constraint if the next larger size hardly gains; None otherwise, and if
    the cluster grants no more executors.
    """
    if at.state.rows_limit is not None and at.is_limited:
        rate_per_s, limit = at.forecast.p90[0], at.state.rows_limit
        proposed = larger_limit(at.model.model, limit, rate_per_s, at.trigger_s, at.sizes, at.slots)
        advice = raise_limit(*proposed, at.trigger_s)
        return Bound("rows limit", f"{_limit(limit).reason}: {advice}")
    if not more and at.state.ceiling is not None:
        return None
    rows = max(float(at.now.batch_rows or 0), at.forecast.p50[0] * max(at.trigger_s, 1.0))
    sizes = [q * at.slots for q in more]
    most = max(rows, at.backlog.rows)
    return binding(at.model.model, most, at.size * at.slots, sizes, at.now.batch_parts_s, at.tuning)
