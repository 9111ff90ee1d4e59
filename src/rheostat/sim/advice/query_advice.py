"""Advice about one recorded query: the smallest fixed size, costs of policies, the bottleneck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rheostat.errors import BadInput
from rheostat.journal.bindings import Binding, bindings
from rheostat.model import Limits, Slo
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.replay.recording import Recording
from rheostat.sim.fitting.batch_fit import Fit, fit
from rheostat.sim.fitting.calibration import Calibration, calibrate, forced
from rheostat.sim.fitting.counterfactual import (
    Deviation,
    Outcome,
    Question,
    deviation,
    outcome,
    played,
)
from rheostat.sim.fitting.recorded_run import Recorded, recorded, recorded_ledger

SIMPLE = ("measured-throughput", "ds2", "spark-batch-ratio")
"""Policies to compare the default policy with."""

INTERVAL_S = 5.0
GOOD, FAIR = 0.15, 0.3
"""Median held-out error of batch times up to which the confidence in advice is good or fair."""

_OPTIMISTIC = 0.02
"""Maximum error of the simulated share of late rows, above which the confidence is low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """The simulated cost of a fixed size or a policy on the fitted plant."""

    name: str
    slot_hours: float
    late_share: float | None
    attained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAdvice:
    """The advice about one query."""

    query: str
    hours: float
    slots_per_executor: int
    recorded: Outcome
    sizes: tuple[int, ...]
    """The recorded numbers of executors."""

    fixed: Simulated | None
    """The smallest fixed size that meets the objective; None if none up to the ceiling does."""

    fixed_executors: int | None
    policy: Simulated
    """The default policy."""

    simple: Simulated | None
    """The cheapest of ``SIMPLE`` that meets the objective."""

    saved_share: float | None
    """Share of the recorded slot-hours that the default policy saves; None if it misses the
    objective."""

    binding: Binding | None
    """The bottleneck up to the largest batch, by the rules of ``rheostat doctor``; None if too few
    batches show it."""

    fixed_s: float
    """Fitted seconds of a batch without rows."""

    confidence: str
    """``good``, ``fair`` or ``low``; the latter two with the reason."""

    batch_error: float
    """Median error of batch times on the held-out part of the log."""

    deviation: Deviation
    notes: tuple[str, ...] = field(default_factory=tuple)


def advise(recording: Recording, slo: Slo, limits: Limits | None = None) -> QueryAdvice:
    """Return the advice about the query of a recording.

    It fits a plant to the recording and simulates the recorded arrivals with fixed sizes and
    policies within ``limits`` (default: from 1 to the largest recorded number of executors). Raises
    BadInput, with the reason, for a recording that cannot be analysed.
    """
    run = recorded(recording)
    if not any(batch.rows for batch in run.batches):
        raise BadInput("no row was processed")
    most = max(size for _, size in run.sizes)
    limits = limits or Limits.between(1, most)
    judged, fitted = calibrate(run), fit(run, run.batches)
    measured = outcome(recorded_ledger(run), run, slo)
    as_recorded = outcome(forced(fitted, run, 0)[1], run, slo)
    off = deviation(as_recorded, measured)
    size, fixed = _least_fixed(fitted, run, slo, limits)
    policy = _simulated(fitted, run, slo, limits, DEFAULT_POLICY)
    others = [_simulated(fitted, run, slo, limits, name) for name in SIMPLE]
    kept = [other for other in others if other.attained]
    return QueryAdvice(
        query=next(iter(recording)) or "",
        hours=run.duration_s / 3600,
        slots_per_executor=run.slots_per_executor,
        recorded=measured,
        sizes=judged.sizes,
        fixed=fixed,
        fixed_executors=size,
        policy=policy,
        simple=min(kept, key=lambda other: other.slot_hours, default=None),
        saved_share=_saved(policy, measured),
        binding=_binding(run),
        fixed_s=fitted.parameters.fixed_s,
        confidence=confidence(
            judged, off, any(now.latency_s is not None for now in run.observations)
        ),
        batch_error=judged.held_out.batch_s_median,
        deviation=off,
        notes=judged.notes,
    )


def confidence(judged: Calibration, off: Deviation, measured: bool) -> str:
    """Return the confidence in the advice: one word and, unless it is good, the reason."""
    error = judged.held_out.batch_s_median
    late = abs(off.late_share or 0.0)
    if error > FAIR:
        return f"low: batch times are predicted with an error of {error:.0%} at the median"
    if late > _OPTIMISTIC:
        return f"low: the simulation misses the recorded share of late rows by {late:.1%}"
    if error > GOOD:
        return f"fair: batch times are predicted with an error of {error:.0%} at the median"
    if not measured:
        return "fair: append times are unknown, so latency follows from the times of batches"
    if len(judged.sizes) == 1:
        return "fair: only one size was recorded, so how work spreads over others is assumed"
    return "good"


def _simulated(
    fitted: Fit,
    run: Recorded,
    slo: Slo,
    limits: Limits,
    name: str,
    given: Mapping[str, Any] | None = None,
) -> Simulated:
    """Return the cost of a policy on the fitted plant with the recorded arrivals."""
    interval_s = max(INTERVAL_S, run.interval_s)
    question = Question(
        policy=name, parameters=given or {}, limits=limits, slo=slo, interval_s=interval_s
    )
    result = outcome(played(fitted, run, question).ledger, run, slo)
    return Simulated(
        name=name,
        slot_hours=result.slot_hours,
        late_share=result.late_share,
        attained=result.attained,
    )


def _least_fixed(
    fitted: Fit, run: Recorded, slo: Slo, limits: Limits
) -> tuple[int | None, Simulated | None]:
    """Return the smallest size that meets the objective, assuming that more slots never hurt."""
    low, high = limits.min_executors, limits.max_executors
    best: tuple[int | None, Simulated | None] = (None, None)
    while low <= high:
        size = (low + high) // 2
        tried = _simulated(
            fitted, run, slo, Limits.between(size, size), "fixed", {"executors": size}
        )
        if tried.attained:
            best, high = (size, tried), size - 1
        else:
            low = size + 1
    return best


def _saved(policy: Simulated, measured: Outcome) -> float | None:
    if not policy.attained or not measured.slot_hours:
        return None
    return 1 - policy.slot_hours / measured.slot_hours


def _binding(run: Recorded) -> Binding | None:
    """Return the bottleneck up to the peak; in the valley after it sizes seem too large."""
    observations = run.observations
    peak = max(range(len(observations)), key=lambda index: observations[index].batch_rows or 0)
    bound = bindings(observations[: peak + 1]) or bindings(observations)
    return next(iter(bound), None)
