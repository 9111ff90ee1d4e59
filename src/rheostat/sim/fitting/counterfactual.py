"""Simulates another policy on a plant fitted to a recording (what-if), with the error estimate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rheostat.errors import BadInput
from rheostat.guards import Guard, standard_guards
from rheostat.journal.events import Change
from rheostat.model import Limits, Record, Slo
from rheostat.policies.checked import Checked
from rheostat.policies.registry import create
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.demand import demand_curve, demand_over, minute_rates
from rheostat.sim.engine import Run, simulate
from rheostat.sim.fitting.batch_fit import Fit, PacedPlant, fit
from rheostat.sim.fitting.calibration import Calibration, Errors, calibrate, forced
from rheostat.sim.fitting.recorded_run import Recorded, load_of, recorded_ledger
from rheostat.sim.measures import Elasticity, Measures, measures
from rheostat.sim.plant import Ledger, Steps
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant

_LOADS = 32
"""Number of loads of the demand curve, up to the busiest minute of the recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Policy, parameters, limits, SLO and decision interval (None: as recorded)."""

    policy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    slo: Slo = field(default_factory=Slo)
    interval_s: float | None = None
    guards: tuple[Guard, ...] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.interval_s is not None and not 0 < self.interval_s < math.inf:
            raise BadInput(
                "the interval between two decisions must be above 0 seconds, but it is"
                f" {self.interval_s:g}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The cost and the lateness of a run."""

    slot_hours: float
    """Slot-hours from each executor's request to its end."""

    late_share: float | None
    """Share of rows later than the objective; None if no row was committed."""

    latency_mean_s: float | None
    latency_p99_s: float | None
    executors_mean: float
    rescalings: int
    lag_max_rows: float
    attained: bool
    """Whether 99 % of the rows over the run and 90 % in every five minutes met the objective."""

    elasticity: Elasticity | None
    """Elasticity relative to the fewest executors that meet the objective on the fitted plant with
    each minute's arrivals, up to the ceiling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """The deviation of the simulated run at recorded sizes, which also affects the answer."""

    late_share: float | None
    """Share of late rows, simulated minus recorded; negative if the plant is too optimistic."""

    latency_mean: float | None
    """Simulated over recorded, minus 1; None if either is unknown."""

    latency_p99: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The recorded run, the same run on the fitted plant, and the policy on that plant."""

    policy: str
    slo: Slo
    duration_s: float
    recorded: Outcome
    """Measured from the recording alone."""

    simulated_as_recorded: Outcome
    """Simulated with the recorded sizes."""

    simulated_with_policy: Outcome
    deviation: Deviation
    """Deviation of the run simulated at the recorded sizes from the recorded run."""

    more_slot_hours: float
    """Slot-hours of the policy minus the recorded ones; negative if it used fewer."""

    more_slot_hours_share: float
    saved_share: float | None
    """Share of the recorded slot-hours that the policy saves, negative if it uses more; None if it
    misses the objective, because late rows are no saving."""

    decisions: tuple[Change, ...]
    """The changes of the target, in seconds after the recording's start."""

    error: Errors
    """Error on the held-out part of the recording."""

    notes: tuple[str, ...]


def whatif(run: Recorded, question: Question) -> Answer:
    """Fit a plant to a recording and simulate a policy and the recorded sizes on it.

    The errors come from ``calibrate``; the compared runs use a fit to all data. Raises BadInput for
    a recording that cannot be fitted and for an invalid policy.
    """
    # Fit twice: a fit to a part of the data estimates the error, a fit to all of it the result.
    judged = calibrate(run)
    fitted = fit(run, run.batches)
    policy_run = played(fitted, run, question)
    demand = _demand(fitted, run, question)
    as_recorded_run = forced(fitted, run, question.seed)[1]
    recorded, as_recorded, with_policy = (
        outcome(ledger, run, question.slo, demand)
        for ledger in (recorded_ledger(run), as_recorded_run, policy_run.ledger)
    )
    more = with_policy.slot_hours - recorded.slot_hours
    share = more / recorded.slot_hours if recorded.slot_hours else 0.0
    return Answer(
        policy=question.policy,
        slo=question.slo,
        duration_s=run.duration_s,
        recorded=recorded,
        simulated_as_recorded=as_recorded,
        simulated_with_policy=with_policy,
        deviation=deviation(as_recorded, recorded),
        more_slot_hours=more,
        more_slot_hours_share=share,
        # A policy that misses the objective has saved nothing.
        saved_share=-share if with_policy.attained else None,
        decisions=_changes(policy_run.records),
        error=judged.held_out,
        notes=_notes(judged, policy_run.records),
    )


def played(fitted: Fit, run: Recorded, question: Question) -> Run:
    """Return a policy's run on the fitted plant with the recorded arrivals; raises BadInput."""
    policy = Checked(create(question.policy, question.parameters, question.slo), question.policy)
    limits = question.limits
    # The recorded size may lie outside the limits of the question.
    start = min(max(fitted.parameters.executors, limits.min_executors), limits.max_executors)
    parameters = replace(fitted.parameters, executors=start)
    plant = PacedPlant(SparkPlant(parameters, load_of(run), seed=question.seed), fitted.pace)
    guards = question.guards if question.guards is not None else standard_guards(limits)
    return simulate(
        plant,
        policy,
        guards,
        until_s=max(run.duration_s, 1.0),
        interval_s=question.interval_s or run.interval_s,
    )


def deviation(simulated: Outcome, recorded: Outcome) -> Deviation:
    """Return the deviation of a simulated outcome from the recorded one."""
    late, recorded_late = simulated.late_share, recorded.late_share
    return Deviation(
        late_share=None if late is None or recorded_late is None else late - recorded_late,
        latency_mean=_off(simulated.latency_mean_s, recorded.latency_mean_s),
        latency_p99=_off(simulated.latency_p99_s, recorded.latency_p99_s),
    )


def _off(simulated: float | None, recorded: float | None) -> float | None:
    return simulated / recorded - 1 if simulated is not None and recorded else None


def _demand(fitted: Fit, run: Recorded, question: Question) -> Steps:
    """Return the demand at the plant's own pace, without recorded disturbances."""
    arrived = Arrivals(run.arrivals())
    most = float(minute_rates(arrived.rows_by, run.duration_s).values.max())
    rates = tuple(most * step / _LOADS for step in range(1, _LOADS + 1)) if most > 0 else (1.0,)

    def plant(rate: float, executors: int) -> SparkPlant:
        parameters = replace(fitted.parameters, executors=executors)
        return SparkPlant(parameters, Constant(rate), seed=question.seed)

    curve = demand_curve(plant, rates, question.slo, question.limits.max_executors)
    return demand_over(curve, arrived.rows_by, run.duration_s, question.limits.min_executors)


def outcome(ledger: Ledger, run: Recorded, slo: Slo, demand: Steps | None = None) -> Outcome:
    """Return the cost and lateness of a run with a recording's arrivals."""
    measured: Measures = measures(ledger, slo, demand=demand)
    return Outcome(
        slot_hours=measured.executor_hours * run.slots_per_executor,
        late_share=None if measured.within is None else 1 - measured.within,
        latency_mean_s=measured.latency_mean_s,
        latency_p99_s=measured.latency_p99_s,
        executors_mean=measured.executors_mean,
        rescalings=measured.rescalings,
        lag_max_rows=measured.lag_max_rows,
        attained=measured.attained,
        elasticity=measured.elasticity,
    )


def _changes(records: tuple[Record, ...]) -> tuple[Change, ...]:
    changes: list[Change] = []
    before = next(filter(None, (record.size for record in records)), 1)
    for record in records:
        t_s, after, reason = record.t_s, record.target, record.reason
        if after is not None and after != before:
            changes.append(Change(t_s=t_s, before=before, after=after, reason=reason))
            before = after
    return tuple(changes)


def _notes(judged: Calibration, records: tuple[Record, ...]) -> tuple[str, ...]:
    targets = {record.target for record in records if record.target is not None}
    low, high = min(judged.sizes), max(judged.sizes)
    far = ", ".join(str(size) for size in sorted(targets) if not low <= size <= high)
    note = f"sizes {far} were never recorded: what they do is extrapolated"
    return (*judged.notes, note) if far else judged.notes
