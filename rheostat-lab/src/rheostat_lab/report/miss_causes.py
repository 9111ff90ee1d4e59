"""Why rows waited longer than the objective: which executors were registered, required, permitted
and added when, and what else was recorded of that time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rheostat.journal.events import allowances
from rheostat.model import Record
from rheostat.plural import counted
from rheostat_lab.report.batch_parts import longest
from rheostat_lab.report.finished_run import CommittedBatch, Run
from rheostat_lab.report.machine_load import machine_load
from rheostat_lab.report.misses import Miss

_LONG_BATCH = 0.3
"""Share of the objective from which on the duration of a batch is mentioned."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """A shortage of executors: ``stood`` were registered when the first late row arrived.
    ``needed`` is the policy's largest request until that row was too old, otherwise its first
    request, because later requests are for rows that already wait.

    ``wanted_s`` and ``allowed_s`` are when the policy first requested more than were registered,
    and when the target first was higher; None: never.
    """

    stood: int
    needed: int
    wanted_s: float
    allowed_s: float | None
    allowed: int
    """The largest target until then."""


def causes(run: Run, miss: Miss) -> list[str]:
    """Return the recorded reasons why rows waited, one clause each, the size first."""
    return [*_size(run, miss), *_job(run, miss), *_machine(run, miss)]


def in_force(run: Run, t_s: float) -> Record | None:
    """Return the last record with a decision up to a moment; None before the first."""
    decided = [record for record in run.records if record.raw and record.t_s <= t_s]
    return decided[-1] if decided else None


def shortage(run: Run, miss: Miss) -> Shortage | None:
    """Return the shortage; None if the policy never requested more than were registered."""
    stood = standing(run, miss.arrived_s)
    during = _during(run, miss)
    wanted = [record for record in during if record.raw and record.raw.target > stood]
    if not wanted:
        return None
    # Requests before a row was too old could still have helped it.
    in_time = [record for record in wanted if record.t_s <= miss.start_s] or wanted[:1]
    targets = [(record.t_s, record.target) for record in during if record.target is not None]
    return Shortage(
        stood=stood,
        needed=max(record.raw.target for record in in_time if record.raw),
        wanted_s=wanted[0].t_s,
        allowed_s=next((t_s for t_s, target in targets if target > stood), None),
        allowed=max((target for _, target in targets), default=stood),
    )


def standing(run: Run, t_s: float) -> int:
    """Return the number of registered executors at a moment."""
    return sum(
        life.registered_s <= t_s and (life.removed_s is None or t_s < life.removed_s)
        for life in run.executors
    )


def _size(run: Run, miss: Miss) -> Iterator[str]:
    stood, during = standing(run, miss.arrived_s), _during(run, miss)
    if not any(record.raw for record in during):
        yield f"{_executors(stood)} running, and no decision was recorded at that time"
        return
    lack = shortage(run, miss)
    if lack is None:
        yield f"{_executors(stood)} running, and the policy requested no more"
        yield from _removed_executors(run, miss)
        return
    yield f"{_executors(stood)} running, {lack.needed} needed"
    yield from _removed_executors(run, miss)
    # A request could not come earlier than the next tick: that is not a delay of the policy.
    if lack.wanted_s - miss.arrived_s > run.interval_s:
        late_s = lack.wanted_s - miss.arrived_s
        yield f"the policy requested more {late_s:.0f} s after the first of these rows had arrived"
    yield from _limits(lack, during)
    yield from _start_delays(run, miss, lack)


def _removed_executors(run: Run, miss: Miss) -> Iterator[str]:
    """Describe how many executors were removed before the last late row was committed."""
    gone = sum(
        life.registered_s <= miss.arrived_s < life.removed_s <= miss.end_s
        for life in run.executors
        if life.removed_s is not None
    )
    if gone:
        yield f"{gone} of them left meanwhile"


def _limits(lack: Shortage, during: Sequence[Record]) -> Iterator[str]:
    """Describe what kept the target below the policy's request, temporarily or all the time."""
    if lack.allowed_s is not None and lack.allowed_s > lack.wanted_s:
        waited_s = lack.allowed_s - lack.wanted_s
        before = [record for record in during if record.t_s < lack.allowed_s]
        yield f"more were held back for {waited_s:.0f} s{_guard(before, lack.stood + 1)}"
    if lack.allowed < lack.needed:
        yield f"at most {lack.allowed} were allowed{_guard(during, lack.needed)}"


def _guard(records: Sequence[Record], below: int) -> str:
    """Return the last guard that limited the target to fewer than ``below``, in brackets; or ''."""
    cut = [
        why
        for record in records
        for change, why in allowances(record)
        if change.after < min(below, change.before)
    ]
    # The last one set the target that was still in force when it was too late.
    return f" ({cut[-1]})" if cut else ""


def _start_delays(run: Run, miss: Miss, lack: Shortage) -> Iterator[str]:
    """Describe how long new executors took from the decision to their registration."""
    if lack.allowed_s is None:
        return
    took = [
        # From an executor's own request if it is known, because it may belong to a later change.
        life.registered_s - (lack.allowed_s if life.requested_s is None else life.requested_s)
        for life in run.executors
        if lack.allowed_s < life.registered_s <= miss.end_s
    ]
    if took:
        yield f"new ones took {max(took):.0f} s to register"
    else:
        yield "no new one had registered when it ended"


def _job(run: Run, miss: Miss) -> Iterator[str]:
    ran = [batch for batch in run.batches if _overlaps(batch, miss)]
    took_s = max((batch.commit_s - batch.start_s for batch in ran), default=0.0)
    if took_s >= _LONG_BATCH * run.slo.latency_s:
        yield longest(ran)
    unobserved = [record for record in _during(run, miss) if record.observation is None]
    if unobserved:
        yield f"{len(unobserved)} times the autoscaler had no observation of the job"
    if run.failed_batches:
        yield f"the query failed {run.failed_batches} times in this run and was started again"
    if not miss.committed:
        yield "some of these rows were never committed"


def _machine(run: Run, miss: Miss) -> Iterator[str]:
    load = machine_load(run.machine, miss.arrived_s, miss.end_s)
    if load and load.busy:
        yield f"the computer was busy: {load.in_words()}"


def _during(run: Run, miss: Miss) -> list[Record]:
    return [record for record in run.records if miss.arrived_s <= record.t_s <= miss.end_s]


def _overlaps(batch: CommittedBatch, miss: Miss) -> bool:
    return batch.start_s < miss.end_s and miss.arrived_s < batch.commit_s


def _executors(count: int) -> str:
    return counted(count, "executor")
