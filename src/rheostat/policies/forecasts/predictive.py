"""The default policy: it simulates the next micro-batches with each size on the forecast rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from rheostat.capacity.binding import Bound, binding
from rheostat.capacity.identify import Identified, identified
from rheostat.capacity.rollout import Arrivals
from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.about import About
from rheostat.policies.foresight.courses import course, is_last_look, risk, within_error_budget
from rheostat.policies.foresight.decision_evidence import decision_evidence
from rheostat.policies.foresight.gain import begun
from rheostat.policies.foresight.late_rows import WINDOW_S, counted
from rheostat.policies.foresight.learning import learnt
from rheostat.policies.foresight.situation import Situation, situation
from rheostat.policies.rates.measured_throughput import MeasuredThroughput
from rheostat.policies.sample_order import in_order

_INVALID = math.log(1.5)
"""Where five batches are off by more in the median, the model decides nothing."""

_LATE_S = 0.1
"""Late rows of a rollout, in seconds of arrivals, that do not count: the model is no better."""

_SCALE_OUT_RISK_RATIO = 2.0
"""Times the risk that a size may be left with, at which more are asked for: between the two the
size stands."""

_SCALE_IN_BATCH_FACTOR = 1.05
"""Times as long as is thought batches may last with fewer executors: else, where surges are only
just borne, two sizes take turns."""

_ROOM = 1.25
"""Times as long as foretold a batch without rows may last after a scale-in: where fixed costs take
most of the objective, no rate is low enough to make up for a batch that is longer than foretold."""

_GAIN = 0.05
"""A reserve that leaves more than the rest of the late rows is no use."""


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
    its median error is above 50 %, ``measured-throughput`` decides. A scale-out that gained less
    than 30 % of the predicted speed-up is undone and not repeated for some time. Where the source
    reports no offsets, the backlog is estimated from the arrivals since the batch began.
    """

    about: ClassVar[About] = About(
        formula=(
            "batch_s = F + sum over stages of max((f N + w rows) / (N / ceil(N / slots)), k (f + w"
            " rows / N))\nexecutors = min q: no row of the batches to come, at the forecast rates,"
            " is older than slo\nneeded = W rate / (1 - 2 F / slo), or W rate"
            " trigger_s / (min(trigger_s, slo - trigger_s) - F)"
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
    stages_every_s: ClassVar[float] = 30.0  # what a row costs drifts slowly; batch times are seen

    slo: float = field(default=10.0, metadata={"help": "latency objective", "unit": "s"})
    rescale_cost: float = field(
        default=30.0, metadata={"help": "cost of a rescale", "unit": "slot-s"}
    )
    margin: float = field(
        default=0.5, metadata={"help": "reserve, in spreads of the batch time", "unit": "1"}
    )
    period_s: float = field(
        default=0.0,
        metadata={"help": "period of the load; 0: detected", "unit": "s"},
    )
    peak: float = field(
        default=0.0,
        metadata={"help": "highest arrival rate to prepare for; 0: unknown", "unit": "rows/s"},
    )

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
        state, rates = learnt(observation, memory, self.slo, self.period_s)
        state["late"] = counted(observation, memory, self.slo)
        simple = MeasuredThroughput(slo=self.slo)
        other, state["simple"] = simple.decide(observation, memory.get("simple", {}))
        if observation.input_rows_per_s is None or not observation.executors:
            return hold(observation, "size kept: arrival rate or executors are unknown"), state
        model = identified(state.get("batches", {}))
        doubt = _doubt(model)
        if model is None or doubt is not None:
            limit = state.get("rows_limit")
            if limit and (observation.batch_s or math.inf) < (observation.trigger_s or 0.0):
                other = hold(observation, _limited(limit))
            elif (model is None or model.error is None) and other.target < (observation.size or 1):
                other = hold(observation, "nothing is given back yet; size kept", other.evidence)
            state |= {"bound": None, "asked": [observation.size, other.target]}
            return replace(other, reason=f"{doubt}; {other.reason}"), state
        at = situation(
            observation,
            state,
            model,
            slo_s=self.slo,
            margin=self.margin,
            rates=rates,
            peak=self.peak,
        )
        decision = self._decided(at)
        if decision.target > at.size:
            batches = state.get("batches", {})
            state["trial"] = begun(state.get("trial", {}), observation.executors, batches)
        state |= {"bound": at.coming.p90[2], "asked": [observation.size, decision.target]}
        return decision, state

    def _decided(self, at: Situation) -> Decision:
        arrivals = Arrivals(at.backlog, at.coming.path(at.coming.p90))
        standing = course(at, arrivals, at.size, at.within_s, starting=True)
        evidence = decision_evidence(at, standing.late_share)
        feared, worst = risk(at, at.size)
        evidence |= {"late_share_feared": feared, "late_in_window_feared": worst}
        if standing.late_rows > _LATE_S * at.coming.p90[0]:
            why = f"in {standing.violation_s:.0f} s rows would be late with {at.size}"
            return self._up(at, why, evidence)
        if is_last_look(at, arrivals, _LATE_S * at.coming.p90[0]):
            why = f"at the next look it is too late to keep rows in time with more than {at.size}"
            return self._up(at, why, evidence)
        if _is_too_much(at, feared, worst):
            surge = at.surges.worst.rate if at.surges else 0.0
            why = f"if the rate surges to {surge:.0f} rows/s, too many would be late with {at.size}"
            return self._up(at, why, evidence, (feared, worst))
        return self._down(at, arrivals, evidence)

    def _up(
        self,
        at: Situation,
        why: str,
        evidence: dict[str, Any],
        surging: tuple[float, float] | None = None,
    ) -> Decision:
        """Return the cheapest size that keeps the objective from when it can be there;
        ``surging`` is the risk with the size that stands, where it is why more are wanted.
        """
        size, until_s = at.size, self._worth_s(at)
        more = [q for q in at.sizes if q > size]
        if at.lost:
            return hold(at.now, f"{why}, but executors do not come; size kept", evidence)
        if (bound := _bound(at, more)) is not None and not _helped(at, more, until_s, surging):
            why = f"more executors will not help, because {bound.reason}; size kept"
            return hold(at.now, why, {**evidence, "binds": bound.kind})
        if more and not surging and _is_over(at, more, until_s):
            return hold(at.now, f"{why}, but it is over before more come; size kept", evidence)
        if more:
            feared = risk(at, more[-1])
            if surging and not at.is_young and not _eases(feared, surging):
                return hold(at.now, f"{why}, and with more executors too; size kept", evidence)
            # what comes above the median can still be met at the next look, but for a young load
            path = at.coming.p99 if at.is_young else at.coming.p50
            arrivals = Arrivals(at.backlog, at.coming.path(path))
            late_rows = _late_rows(at, arrivals, more, until_s)
            allowed = min(late_rows) + _LATE_S * at.coming.p90[0]
            for q, late in zip(more, late_rows, strict=True):
                if late <= allowed and within_error_budget(risk(at, q), at, feared):
                    evidence["needed"] = q
                    return Decision(
                        target=q, reason=f"{q} executors are needed: {why}", evidence=evidence
                    )
        last = f"there may be no more than {size}"
        if at.cap is not None:
            last = f"the last step beyond {at.cap} gained too little"
        return hold(at.now, f"more executors will not help: {last}; size kept", evidence)

    def _worth_s(self, at: Situation) -> float:
        """Return for how long a size must do: until the next one could be there, and while an
        executor that idles costs less than another change.
        """
        return at.within_s + self.rescale_cost / at.slots

    def _down(self, at: Situation, arrivals: Arrivals, evidence: dict[str, Any]) -> Decision:
        size, until_s = at.size, self._worth_s(at)
        best, saved = size, self.rescale_cost
        longer_batches = replace(at, longer=at.longer * _SCALE_IN_BATCH_FACTOR)
        with_room = replace(at, longer=at.longer * _ROOM)
        for q in (fewer for fewer in at.sizes if fewer < size):
            if with_room.sustained(q) <= 0:
                continue
            saving = (size - q) * at.slots * at.coming.until_above(at.sustained(q))
            if q == at.cap:
                saving = math.inf  # what has gained nothing is given back at once
            if saving <= saved:
                continue
            if course(at, arrivals, q, until_s).late_rows > _LATE_S * at.coming.p90[0]:
                continue
            does_as_much = at.sustained(q) >= at.sustained(size)
            if does_as_much or (
                at.bears_change and within_error_budget(risk(longer_batches, q, as_never=True), at)
            ):
                best, saved = q, saving
        if best < size:
            evidence["needed"] = best
            why = f"{best} executors do: {saved:.0f} slot-seconds are saved until more are needed"
            if best == at.cap:
                why = f"undone: {size} executors gained less than 30 % of what the model promised"
            return Decision(target=best, reason=why, evidence=evidence)
        why = f"size kept: no row will be late with {size}, and fewer would not pay"
        if at.now.lag_rows is None:
            why += "; the source does not tell what waits"
        return Decision(target=size, reason=why, evidence=evidence)


def _helped(
    at: Situation, more: Sequence[int], until_s: float, surging: tuple[float, float] | None
) -> bool:
    """Tell whether the most executors make fewer rows late, although the next size makes a batch
    hardly shorter: beside a large fixed cost that may be all that the objective lacks.
    """
    if not more or at.is_limited:
        return False
    if surging:
        return _eases(risk(at, more[-1]), surging)
    arrivals = Arrivals(at.backlog, at.coming.path(at.coming.p90))
    here, there = (course(at, arrivals, q, until_s).late_rows for q in (at.size, more[-1]))
    return there < (1 - _GAIN) * here


def _is_over(at: Situation, more: Sequence[int], until_s: float) -> bool:
    """Tell whether what makes rows late is over before more executors come, as the long batch after
    a change of size: they would come for nothing. Where rows queue up to the end it is not over.
    """
    arrivals = Arrivals(at.backlog, at.coming.path(at.coming.p90))
    in_time, lasts_s = at.coming.p90[0] * at.aim_s, max(until_s, WINDOW_S)
    here = course(at, arrivals, at.size, lasts_s)
    if here.waiting_rows > in_time:
        return False
    acceptable_rows = (1 - _GAIN) * here.late_rows
    for q in reversed(more):  # the most help, if any do
        there = course(at, arrivals, q, lasts_s)
        if there.late_rows + max(0.0, there.waiting_rows - in_time) <= acceptable_rows:
            return False
    return True


def _late_rows(
    at: Situation, arrivals: Arrivals, sizes: Sequence[int], until_s: float
) -> list[float]:
    """Return the rows that each size makes late; where each does, over five minutes, and with those
    that wait then: who catches up sooner is better, although all are late until it has come.
    """
    late = [course(at, arrivals, q, until_s).late_rows for q in sizes]
    if min(late) <= _LATE_S * at.coming.p90[0]:
        return late
    courses = [course(at, arrivals, q, max(until_s, WINDOW_S)) for q in sizes]
    return [ahead.late_rows + ahead.waiting_rows for ahead in courses]


def _is_too_much(at: Situation, feared: float, worst: float) -> bool:
    """Tell whether surges would make too many rows late, and more than a change would."""
    return feared > max(_SCALE_OUT_RISK_RATIO * at.late_share, at.late_by_change) or worst > max(
        _SCALE_OUT_RISK_RATIO * at.late_in_window, at.cost.late_s / WINDOW_S
    )


def _eases(most: tuple[float, float], standing: tuple[float, float]) -> bool:
    """Tell whether surges would make fewer rows late with the most executors than with those that
    stand.
    """
    return any(less < (1 - _GAIN) * now for less, now in zip(most, standing, strict=True))


def _doubt(model: Identified | None) -> str | None:
    """Say why the model decides nothing; None where it may."""
    if model is None:
        return "the batch model has seen no batch yet"
    if model.error is None:
        return "too few batches to tell whether the batch model is right"
    if model.error > _INVALID:
        return f"the batch model is off by {math.expm1(model.error):.0%}"
    return None


def _limited(rows: int) -> str:
    return f"more executors will not help, because {_limit(rows).reason}; size kept"


def _limit(rows: int) -> Bound:
    return Bound("rows limit", f"the limit of {rows} rows a batch binds")


def _bound(at: Situation, more: Sequence[int]) -> Bound | None:
    """Return what binds where the next larger size gains under 5 %; None where it gains more, and
    where there may be no more.
    """
    if at.rows_limit is not None and at.is_limited:
        return _limit(at.rows_limit)
    if not more and (at.cap is not None or at.ceiling is not None):
        return None
    rows = max(float(at.now.batch_rows or 0), at.coming.p50[0] * max(at.trigger_s, 1.0))
    sizes = [q * at.slots for q in more]
    most = max(rows, at.backlog.rows)
    return binding(at.model.model, most, at.size * at.slots, sizes, at.now.batch_parts_s)
