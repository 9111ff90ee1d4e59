"""What would have happened: a plant fitted to a recording, another policy in the loop, and the
error of all that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

from rheostat.guards import Guard, standard_guards
from rheostat.model import Limits, Record, Slo
from rheostat.policies.registry import create
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.engine import simulate
from rheostat.sim.fitting.batch_fit import Fit, fit
from rheostat.sim.fitting.calibration import Calibration, Errors, calibrate, forced, load_of
from rheostat.sim.fitting.recorded_run import Recorded
from rheostat.sim.measures import Elasticity, Measures, measures
from rheostat.sim.plant import Ledger, Steps
from rheostat.sim.spark.machine_pace import PacedPlant
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.sweep.demand import demand_over, minute_rates
from rheostat.sim.sweep.sweep_plant import demand_at

_LOADS = 32
"""Loads of the demand curve, up to the busiest minute of the recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The policy that is asked for, its parameters, the limits, the objective, and the seconds
    between two decisions.

    ``interval_s`` None: the recording's own step. ``guards`` None: the standard ones.
    """

    policy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    slo: Slo = field(default_factory=Slo)
    interval_s: float | None = None
    guards: tuple[Guard, ...] | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run cost and how late it was."""

    slot_hours: float
    late_share: float | None
    """Share of the rows later than the objective; None where none was committed."""

    latency_mean_s: float | None
    latency_p99_s: float | None
    executors_mean: float
    rescalings: int
    lag_max_rows: float
    attained: bool
    elasticity: Elasticity | None
    """Against the least executors that hold the objective on the fitted plant with each minute's
    arrivals, up to the ceiling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the target, seconds after the recording's start, and why."""

    t_s: float
    before: int
    after: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The recorded sizes and the policy on one fitted plant, the recorded cost, the decisions, and
    how far the plant is off.
    """

    policy: str
    duration_s: float
    recorded_slot_hours: float
    """From the recording alone: registered executors x slots."""

    as_recorded: Outcome
    """The recorded sizes, on the plant."""

    with_policy: Outcome
    saved_slot_hours: float
    """Of the two on the plant; below 0 where the policy would have cost more."""

    saved_share: float
    decisions: tuple[Change, ...]
    error: Errors
    """On the part of the recording that the fit never read."""

    notes: tuple[str, ...]

    @property
    def as_json(self) -> dict[str, Any]:
        """Plain values under the fields' names."""
        return asdict(self)


def whatif(run: Recorded, question: Question) -> Answer:
    """Fit a plant to a recording and play its arrivals to a policy, with the recorded sizes beside
    it.

    The errors come from a fit that leaves three tenths of the run out (``calibrate``); the runs
    that are compared use a fit to all of it. Raises BadInput where the recording cannot be fitted,
    and for a policy or parameter that is wrong.
    """
    policy = create(question.policy, question.parameters, question.slo)
    judged = calibrate(run)
    found = fit(run, run.batches)
    demand = _demand(found, run, question)
    baseline = _outcome(forced(found, run, question.seed).ledger(), run, question.slo, demand)
    plant = PacedPlant(
        SparkPlant(_within(found, question.limits), load_of(run), seed=question.seed), found.pace
    )
    guards = question.guards if question.guards is not None else standard_guards(question.limits)
    done = simulate(
        plant,
        policy,
        guards,
        until_s=max(run.duration_s, 1.0),
        interval_s=question.interval_s or run.interval_s,
    )
    ours = _outcome(done.ledger, run, question.slo, demand)
    saved = baseline.slot_hours - ours.slot_hours
    return Answer(
        policy=question.policy,
        duration_s=run.duration_s,
        recorded_slot_hours=_slot_hours(run),
        as_recorded=baseline,
        with_policy=ours,
        saved_slot_hours=saved,
        saved_share=saved / baseline.slot_hours if baseline.slot_hours else 0.0,
        decisions=_changes(done.records),
        error=judged.held_out,
        notes=_notes(judged, done.records),
    )


def _within(found: Fit, limits: Limits) -> SparkParameters:
    start = min(max(found.parameters.executors, limits.min_executors), limits.max_executors)
    return replace(found.parameters, executors=start)


def _demand(found: Fit, run: Recorded, question: Question) -> Steps:
    """The plant is searched at its own pace, without what neighbours and new executors took in the
    recording.
    """
    arrived = Arrivals(run.arrivals())
    most = float(minute_rates(arrived.rows_by, run.duration_s).values.max())
    rates = tuple(most * step / _LOADS for step in range(1, _LOADS + 1)) if most > 0 else (1.0,)
    curve = demand_at(
        found.parameters, rates, question.slo, question.limits.max_executors, seed=question.seed
    )
    return demand_over(curve, arrived.rows_by, run.duration_s, question.limits.min_executors)


def _outcome(ledger: Ledger, run: Recorded, slo: Slo, demand: Steps) -> Outcome:
    told: Measures = measures(ledger, slo, demand=demand)
    return Outcome(
        slot_hours=told.executor_hours * run.slots_per_executor,
        late_share=None if told.within is None else 1 - told.within,
        latency_mean_s=told.latency_mean_s,
        latency_p99_s=told.latency_p99_s,
        executors_mean=told.executors_mean,
        rescalings=told.rescalings,
        lag_max_rows=told.lag_max_rows,
        attained=told.attained,
        elasticity=told.elasticity,
    )


def _slot_hours(run: Recorded) -> float:
    edges = [*run.sizes, (run.duration_s, 0)]
    executor_s = sum(
        (later_s - begin_s) * size for (begin_s, size), (later_s, _) in pairwise(edges)
    )
    return executor_s * run.slots_per_executor / 3600


def _changes(records: tuple[Record, ...]) -> tuple[Change, ...]:
    found: list[Change] = []
    before = next(
        (each.observation.size for each in records if each.observation and each.observation.size), 1
    )
    for each in records:
        if each.target is not None and each.target != before:
            reason = each.guards[-1].reason if each.guards else each.raw.reason if each.raw else ""
            found.append(Change(t_s=each.t_s, before=before, after=each.target, reason=reason))
            before = each.target
    return tuple(found)


def _notes(judged: Calibration, records: tuple[Record, ...]) -> tuple[str, ...]:
    asked = sorted({each.target for each in records if each.target is not None} - set(judged.sizes))
    far = [size for size in asked if not min(judged.sizes) <= size <= max(judged.sizes)]
    more = (
        (f"sizes {', '.join(map(str, far))} were never recorded: what they do is extrapolated",)
        if far
        else ()
    )
    return (*judged.notes, *more)
