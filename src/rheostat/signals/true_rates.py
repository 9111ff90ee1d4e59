"""True rates (DS2, OSDI 2018): rows per second of useful time, and the slots they require."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from statistics import median
from typing import TypeGuard

from rheostat.errors import BadInput
from rheostat.model import Observation, Stage, source_readers

DEFINITIONS = ("varga", "koper")


def utilization(observation: Observation, definition: str) -> float | None:
    """Return the utilization 0..1; None if neither busy nor idle time is known.

    ``varga`` (eq. 5, Flink 1.12) counts busy time only; ``koper`` (eq. 3.4, Flink 1.14) also counts
    backpressure. For Spark, both are ``busy``.
    """
    blocked = (observation.backpressure_ms_per_s or 0.0) / 1000
    busy, idle = observation.busy, observation.idle
    if definition == "varga":
        used = busy if busy is not None else _rest(idle, blocked)
    else:
        used = _rest(idle, 0.0) if idle is not None else _sum(busy, blocked)
    # Busy and idle are means of different windows, so their sum may differ slightly from 1.
    return None if used is None else min(1.0, max(0.0, used))


def _rest(idle: float | None, blocked: float) -> float | None:
    return None if idle is None else 1 - idle - blocked


def _sum(busy: float | None, blocked: float) -> float | None:
    return None if busy is None else busy + blocked


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The target rate of one operator, and the slots that it requires."""

    name: str
    rate_per_s: float
    """Target rate: rows per second that the upstream operators emit at their own target rates."""

    per_slot: float
    """True processing rate: rows per slot-second of useful time; infinite if nothing arrives."""

    @property
    def slots(self) -> float:
        """The parallelism pi, not rounded: target rate / true processing rate."""
        return self.rate_per_s / self.per_slot


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of all operators, upstream first; if empty, ``detail`` has the cause."""

    operators: tuple[Need, ...]
    detail: str


def needs(observation: Observation) -> Needs:
    """Return the needs of the stages; without stages, of the job as one operator."""
    try:
        operators = stage_needs(observation) if observation.stages else job_need(observation)
    except BadInput as wrong:
        return Needs((), str(wrong))
    if not all(is_known(operator.slots) for operator in operators):
        return Needs((), "the true rates are out of all proportion")
    return Needs(
        operators, f"{len(operators)} stages" if observation.stages else "the job as one operator"
    )


def stage_needs(observation: Observation) -> tuple[Need, ...]:
    """Return the needs of the stages by DS2, equations 4 to 8, upstream first.

    ``busy_s`` is in slot-seconds over the same time as the rows. A source's target is its external
    rate; a source without input rows needs no slots. The rows of a stage that reads none of the
    sources, such as a static table's, keep their proportion to those of the stages that do. Raises
    BadInput for an invalid graph or an absent number.
    """
    ordered, rates = in_order(observation.stages or ()), source_rates(observation)
    rates = {**rates, **_sourceless_rates(observation, rates)}
    given: dict[str, float] = {}
    needed: list[Need] = []
    for stage in ordered:
        rate = sum(
            given[name] if name in given else rates[name]
            # A stage without an upstream is its own source, known by its own name.
            for name in stage.upstream or (stage.name,)
        )
        if _only_emits(stage):
            # A stage that only emits runs at the external rate, whatever its parallelism.
            given[stage.name] = rate
            continue
        needed.append(
            Need(name=stage.name, rate_per_s=rate, per_slot=_per_slot(stage) if rate else math.inf)
        )
        # DS2's selectivity, rows out divided by rows in, gives the target of the next stage.
        given[stage.name] = (
            rate * (stage.rows_out or 0.0) / stage.rows_in if rate and stage.rows_in else 0.0
        )
        if (
            rate
            and stage.rows_out is None
            and any(stage.name in other.upstream for other in observation.stages or ())
        ):
            raise BadInput(f"the rows out of stage {stage.name} are unknown")
    return tuple(needed)


def job_need(observation: Observation) -> tuple[Need, ...]:
    """Return the need of the job as one operator; raises BadInput for an absent number."""
    rate, slots = observation.input_rows_per_s, job_slots(observation)
    if not is_known(rate) or slots is None:
        raise BadInput("the arrival rate or the executors are unknown")
    true_rate = job_true_rate(observation)
    if rate > 0 and true_rate is None:
        raise BadInput(
            "the true processing rate is unknown: no stages, no batch with rows, no busy share"
        )
    per_slot = true_rate / slots if rate and true_rate else math.inf
    return (Need(name="job", rate_per_s=rate, per_slot=per_slot),)


def job_true_rate(observation: Observation) -> float | None:
    """Return the rows per second of the job if it were always busy; None if unknown."""
    rate, busy = consumed_rows_per_s(observation), busy_share(observation)
    true_rate = rate / busy if rate and busy else None
    return true_rate if true_rate and is_known(true_rate) else None


def consumed_rows_per_s(observation: Observation) -> float | None:
    """Return the rows read per second: a batch's rows / interval, otherwise the reported rate."""
    interval_s = _interval_s(observation)
    if interval_s is None:
        return observation.processed_rows_per_s
    return (observation.batch_rows or 0) / interval_s


def busy_share(observation: Observation) -> float | None:
    """Return the busy share of time: a batch's duration / interval, otherwise ``busy``."""
    interval_s = _interval_s(observation)
    return observation.busy if interval_s is None else (observation.batch_s or 0.0) / interval_s


def _interval_s(observation: Observation) -> float | None:
    """Return the seconds between batch starts; None without a batch of known rows and time."""
    if (
        observation.batch_rows is None
        or not is_known(observation.batch_s)
        or not observation.batch_s
    ):
        return None
    return max(observation.batch_s, observation.trigger_s or 0.0)


def job_slots(observation: Observation) -> int | None:
    """Return the slots of all executors, one each if unknown; None without executors."""
    executors, slots = observation.executors, observation.slots_per_executor or 1
    return executors * slots if executors else None


def executors_for(slots: float, observation: Observation) -> int:
    """Return the executors, at least 1, that provide this many slots."""
    # Rounded twice, because neither a slot nor an executor can be used in part.
    return max(1, rounded_up(rounded_up(slots) / (observation.slots_per_executor or 1)))


def rounded_up(number: float) -> int:
    """Return the ceiling of ``number``, ignoring floating-point noise: 1.1 x 10 gives 11."""
    # The tolerance is relative, because a large sum has a larger rounding error.
    return math.ceil(number - 1e-9 * max(1.0, abs(number)))


def check_graph(observation: Observation) -> None:
    """Raise BadInput for a cycle, a duplicate name, or several sources with a single rate."""
    if observation.stages:
        in_order(observation.stages)
        source_rates(observation, strict=False)


def in_order(stages: tuple[Stage, ...]) -> list[Stage]:
    """Return the stages, upstream first; raises BadInput for a cycle or a duplicate name."""
    named = {stage.name: stage for stage in stages}
    if len(named) < len(stages):
        twice = next(stage.name for stage in stages if named[stage.name] is not stage)
        raise BadInput(f"two stages are named {twice}; each needs its own name")
    sorter = TopologicalSorter(
        {stage.name: [name for name in stage.upstream if name in named] for stage in stages}
    )
    try:
        return [named[name] for name in sorter.static_order()]
    except CycleError as cycle:
        raise BadInput(
            f"the stages form a cycle ({' -> '.join(cycle.args[1])}); they must have an order"
        ) from None


def source_rates(observation: Observation, strict: bool = True) -> Mapping[str, float]:
    """Return the external rate of every source; raises BadInput if one is missing.

    Several sources need one rate each in ``inputs``; a single source may use the job's rate.
    """
    stages, inputs = observation.stages or (), observation.inputs or {}
    named, sourceless = {stage.name for stage in stages}, _sourceless(observation)
    sources = dict.fromkeys(
        name
        for stage in stages
        if stage not in sourceless
        for name in stage.upstream or (stage.name,)
        if name not in named or not stage.upstream
    )
    known = {name: inputs[name] for name in sources if is_known(inputs.get(name))}
    # A single source may have another name than in Spark; its rate is that of the job.
    if len(sources) == 1 and not known:
        total = observation.input_rows_per_s if not inputs else sum(inputs.values())
        known = dict.fromkeys(sources, total) if is_known(total) else {}
    if len(known) < len(sources) and (
        strict or known or inputs or observation.input_rows_per_s is not None
    ):
        missing = ", ".join(name for name in sources if name not in known)
        raise BadInput(
            f"the graph has {len(sources)} source(s) ({', '.join(sources)}), but inputs has no rate"
            f" for {missing}"
        )
    return known


def _sourceless(observation: Observation) -> list[Stage]:
    """Return the first stages that read none of the sources, where others are known to read them;
    a recorded graph may also name its sources as stages.
    """
    stages, sources = observation.stages or (), observation.inputs or {}
    readers = source_readers(stages)
    if not readers:
        return []
    first = [stage for stage in stages if not stage.upstream and stage not in readers]
    return [stage for stage in first if stage.name not in sources]


def _sourceless_rates(observation: Observation, rates: Mapping[str, float]) -> dict[str, float]:
    """Return the rates of these stages from the external rates of the sources."""
    readers = source_readers(observation.stages or ())
    read = sum(reader.rows_in or 0.0 for reader in readers)
    arriving = sum(rates[name] for stage in readers for name in stage.upstream or (stage.name,))
    share = arriving / read if read else 0.0
    return {stage.name: share * (stage.rows_in or 0.0) for stage in _sourceless(observation)}


def _only_emits(stage: Stage) -> bool:
    return (
        not stage.upstream and not stage.rows_in and (bool(stage.rows_out) or stage.busy_s is None)
    )


def _per_slot(stage: Stage) -> float:
    if not (is_known(stage.rows_in) and is_known(stage.busy_s) and stage.rows_in and stage.busy_s):
        raise BadInput(
            f"the true rate of stage {stage.name} is unknown: rows_in is {stage.rows_in}, busy_s is"
            f" {stage.busy_s}"
        )
    return stage.rows_in / stage.busy_s


def is_known(number: float | None) -> TypeGuard[float]:
    """Return whether a count, rate or time is present, finite and at least 0."""
    return number is not None and 0 <= number < math.inf


_KEPT = 21
"""Number of estimates whose median is used, so that a garbage collection has no effect."""


def arrivals_per_s(observation: Observation) -> float | None:
    """Return the arriving rows per second, summed over the sources; None if unknown."""
    rate = observation.input_rows_per_s
    if rate is None and observation.inputs:
        rate = sum(observation.inputs.values())
    return rate if is_known(rate) else None


def slot_s_per_row(observation: Observation) -> float | None:
    """Return busy slot-seconds per row (LibReDE, Spinner et al., 2015); None if unknown."""
    rate, demand = arrivals_per_s(observation), needs(observation)
    if not rate or not demand.operators:
        return None
    # A demand of 0 is not an estimate: the stages were idle.
    return sum(operator.slots for operator in demand.operators) / rate or None


def with_demand(demands: Sequence[float], observation: Observation) -> list[float]:
    """Return the last estimates, including that of the observation if it has one."""
    demand = slot_s_per_row(observation)
    if demand is None:
        return [*demands]
    return [*demands, demand][-_KEPT:]


def demand_of(demands: Sequence[float]) -> float | None:
    """Return the slot-seconds per row by the last estimates; None before the first."""
    return median(demands) if demands else None
