"""The limit of a query: whether more executors would shorten its batches, and if not, why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Literal

from rheostat.capacity import binding as capacity
from rheostat.capacity.identify import Batches, Identified
from rheostat.journal.totals import mean_parts
from rheostat.model import Finding, Observation
from rheostat.signals.lag import is_rows_limited, rows_left
from rheostat.state.proposed_count import proposed_count

_WANTED = "state_partitions_wanted"

Kind = Literal["nothing", "cost"] | capacity.Kind

_COLD = 2
"""Number of batches after a change of size that are excluded, because executors are cold."""

_WORTH = 0.5
"""Minimum share of the ideal reduction of the batch time; below it, more executors cost more than
they save."""

_RECENT = 20
_LIMITED = 3
"""Number of consecutive batches that show a limit of rows."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The limit of a query as a kind and a sentence, with the numbers behind it."""

    query: str
    kind: Kind
    line: str
    evidence: Mapping[str, float] = field(default_factory=dict)


def finding_of(binding: Binding, checkpoint: str = "CHECKPOINT") -> Finding:
    """Return the line of ``rheostat doctor``, with a command if state partitions bind."""
    wanted = binding.evidence.get(_WANTED)
    command = ""
    if wanted is not None:
        command = (
            f"; {wanted:.0f} state partitions would be enough: rheostat state repartition"
            f" {checkpoint} --partitions {wanted:.0f}, while the query is stopped"
        )
    return Finding(
        topic=f"what binds {binding.query}",
        state="good" if binding.kind == "cost" else "advice",
        line=binding.line + command,
    )


def bindings(observations: Iterable[Observation]) -> tuple[Binding, ...]:
    """Return what limits each query of a run that has at least three batches."""
    by_query: dict[str, list[Observation]] = {}
    for observation in observations:
        by_query.setdefault(observation.query or "the query", []).append(observation)
    by_batches = (_binding(query, _batches(observed)) for query, observed in by_query.items())
    return tuple(binding for binding in by_batches if binding is not None)


def _batches(observations: Sequence[Observation]) -> list[Observation]:
    """Return one observation per batch that ran completely at one size with warm executors."""
    batches: list[Observation] = []
    size, cold, last = None, 0, None
    for observation in observations:
        # An observation without executors (the API server was unreachable) is not a change of size.
        if observation.executors and observation.executors != size:
            size, cold = observation.executors, 0 if size is None else _COLD
        batch = (observation.batch_s, observation.batch_rows)
        if batch == last or not (
            observation.batch_s and observation.batch_rows and observation.executors
        ):
            continue
        last = batch
        if cold:
            cold -= 1
        else:
            batches.append(observation)
    return batches


def _binding(query: str, batches: Sequence[Observation]) -> Binding | None:
    learned = Batches()
    for batch in batches:
        if batch.batch_s and batch.batch_rows:
            learned = learned.with_batch(
                batch.batch_s, batch.batch_rows, _slots(batch), batch.stages
            )
    model = learned.identified()
    if model is None or len(batches) < _LIMITED:
        return None
    recent = batches[-_RECENT:]
    rows = median(recent_batch.batch_rows or 0 for recent_batch in recent)
    limit = _rows_limit(recent)
    if limit:
        advice = _larger_limit(model, round(rows), recent[-1])
        numbers = _numbers(model, rows, recent[-1])
        return Binding(query, "rows limit", f"{limit}; {advice}", numbers)
    return _of_model(query, model, rows, recent)


def _of_model(query: str, model: Identified, rows: float, recent: Sequence[Observation]) -> Binding:
    slots, slots_per_executor = _slots(recent[-1]), recent[-1].slots_per_executor or 1
    sizes = _sizes(model, rows, slots)
    numbers = _numbers(model, rows, recent[-1])
    parts_s = mean_parts(batch.batch_parts_s for batch in recent)
    bound = capacity.binding(model.model, rows, slots, sizes, parts_s)
    if bound is None:
        more = next(size for size in sizes if size > slots)
        executors = math.ceil(more / slots_per_executor)
        return _of_next_size(query, numbers, model.model.batch_s(rows, more), executors)
    have = recent[-1].state_partitions
    if have and bound.tasks == have:
        numbers[_WANTED] = proposed_count(have, max(slots, have + 1))
    line = f"more executors will not help, because {bound.reason}"
    return Binding(query, bound.kind, line, numbers)


def _of_next_size(query: str, numbers: dict[str, float], larger_s: float, more: int) -> Binding:
    """Return what the next larger size gains and costs."""
    here_s, executors = numbers["batch_s"], numbers["executors"]
    shorter, dearer = 1 - larger_s / here_s, more / executors - 1
    is_worth = shorter >= _WORTH * (1 - executors / more)
    cost = "double the cost" if dearer == 1 else f"cost {100 * dearer:.0f} % more"
    gain = (
        f"{more} instead of {executors:.0f} executors shorten a batch of {numbers['rows']:,.0f}"
        f" rows by {100 * shorter:.0f} % ({larger_s:.2f} s instead of {here_s:.2f} s) and {cost}"
    )
    line = f"more executors help: {gain}" if is_worth else f"the size fits: {gain}, not worth it"
    return Binding(
        query, "nothing" if is_worth else "cost", line, numbers | {"next_batch_s": larger_s}
    )


def _rows_limit(recent: Sequence[Observation]) -> str:
    """Return why a row limit binds: equal batches end before the trigger while rows wait; or ''."""
    last = recent[-_LIMITED:]
    rows, batch_s = last[-1].batch_rows, max(batch.batch_s or 0.0 for batch in last)
    trigger_s = last[-1].trigger_s or 0.0
    limited = all(
        is_rows_limited(batch.batch_rows or 0, before.batch_rows or 0, rows_left(batch))
        for before, batch in pairwise(last)
    )
    if not limited or batch_s > trigger_s:
        return ""
    return (
        f"more executors will not help, because every batch takes {rows:,} rows, is done in"
        f" {batch_s:.1f} s of the trigger's {trigger_s:g} s, and more rows wait: a limit of rows"
        " (maxOffsetsPerTrigger) binds"
    )


def _larger_limit(model: Identified, limit: int, last: Observation) -> str:
    """Return the limit of rows and the executors that would process the arrivals."""
    trigger_s, per_executor = last.trigger_s or 0.0, last.slots_per_executor or 1
    sizes = _sizes(model, limit, _slots(last))
    rate_per_s = last.input_rows_per_s or 0.0
    rows, slots = capacity.larger_limit(model.model, limit, rate_per_s, trigger_s, sizes)
    executors = math.ceil(slots / per_executor) if slots else None
    return capacity.raise_limit(rows, executors, trigger_s)


def _sizes(model: Identified, rows: float, slots: int) -> list[int]:
    """Return the numbers of slots worth having, up to a multiple of the present number."""
    tasks = max((stage.tasks for stage in model.model.stages), default=1)
    return model.model.worth_having(min(tasks, 4 * slots + 64), rows)


def _slots(observation: Observation) -> int:
    return (observation.executors or 1) * (observation.slots_per_executor or 1)


def _numbers(model: Identified, rows: float, last: Observation) -> dict[str, float]:
    slots = _slots(last)
    return {
        "rows": rows,
        "slots": slots,
        "executors": last.executors or 1,
        "batch_s": model.model.batch_s(rows, slots),
        "fixed_s": model.model.fixed_s,
    } | ({} if model.error is None else {"error": model.error})
