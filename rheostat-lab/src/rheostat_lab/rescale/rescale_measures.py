"""The effects of one way of rescaling on a stateful query: the numbers of
``benchmarks/live_rescale.py``, from batches, marks and tasks.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rheostat_lab.rescale.disturbance import Timed, Window, disturbance, references_s
from rheostat_lab.rescale.event_log import EventLog
from rheostat_lab.rescale.rescale_ways import Mark
from rheostat_lab.rescale.stalls import Stall, stalls
from rheostat_lab.rescale.task_times import first_tasks, moved_and_others

TAIL_BATCHES = 2
"""Number of batches after a rescale has settled that still belong to it, because a late cold task
must not count as steady."""

LITTLE = 0.05
"""Share of the processors that others on the same host may take for a pair of rescales to count as
undisturbed."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The moves of the state in one rescale: units that changed their executor, the number of
    executors that received them, and the share of the new ones.
    """

    units: int
    per_executor: float
    new_share: float | None
    spread: int
    """Units on the executor with the most, minus units on the one with the fewest, of all
    executors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All data of one way; ``marks`` begins with the unscored ones, ``mb`` is the size of the
    state.

    ``busy`` are times in which the measurement itself used a processor; batches in them belong
    neither to a rescale nor to the steady ones. ``stolen`` is, for each scored pair of rescales,
    the share of this machine's processors that others on the same host took meanwhile.
    """

    batches: Sequence[Timed]
    ids: Sequence[tuple[str, int]]
    marks: Sequence[Mark]
    unscored: int
    log: EventLog
    partitions: int
    mb: float
    busy: Sequence[tuple[float, float]] = ()
    stolen: Sequence[float] = ()

    @property
    def scored(self) -> Sequence[Mark]:
        """The scored rescales."""
        return self.marks[self.unscored :]

    @property
    def undisturbed(self) -> frozenset[int]:
        """The numbers of the scored pairs from which the host took little (``LITTLE``)."""
        return frozenset(pair for pair, share in enumerate(self.stolen) if share < LITTLE)


def measures(run: Run) -> dict[str, Any]:
    """Return the numbers of a way.

    ``steady_batch_s`` is T_ref by executors; ``stalls`` are batches with a free slot and a task
    pending for over a second. ``in``, ``out`` and ``out_start`` have the disturbance, and
    ``seconds`` from the request to the end of the window. The first two also have the disturbance
    of the ``undisturbed`` pairs by their own steady batches, and the moved state: MB to each new
    (scaling out) or receiving (scaling in) executor, the new executors' share of the partitions
    relative to an even one (1.0 = even), and the spread between executors. ``state_task_s`` and
    ``first_task_s`` are those of ``task_times``.
    """
    steady = steady_batches(run)
    since_s = run.scored[0].requested_s if run.scored else float("inf")
    stalled = [stall for stall in stalls(run.log) if stall.begin_s >= since_s]
    holders = run.log.partition_holders(run.partitions)
    result: dict[str, Any] = {
        "failed_tasks": len(run.log.failed_tasks),
        "failed_stages": run.log.failed_stages,
        "failed_batches": run.log.failed_jobs,
        "rescales": len(run.scored),
        "batches": len(run.batches),
        "steady_batch_s": {
            str(slots): reference for slots, reference in references_s(steady).items()
        },
        "stalls": [asdict(stall) | {"during": _during(stall, run)} for stall in stalled],
        "state_task_s": {
            name: asdict(measured)
            for name, measured in moved_and_others(run.log, run.partitions, since_s).items()
        },
        "first_task_s": {
            name: asdict(measured) for name, measured in first_tasks(run.log, since_s).items()
        },
    }
    for kind in ("in", "out", "out_start"):
        result[kind] = _direction(run, kind, steady, holders)
    return result


def _direction(
    run: Run,
    kind: str,
    steady: Mapping[int, Sequence[Timed]],
    holders: Mapping[tuple[str, int], Mapping[int, str]],
) -> dict[str, Any]:
    numbered = [
        (i // 2, mark) for i, mark in enumerate(run.scored) if mark.kind == kind.partition("_")[0]
    ]
    marks = [mark for _, mark in numbered]
    result = asdict(disturbance(run.batches, [window(mark, kind, run) for mark in marks], steady))
    result |= {"seconds": [round(_end_s(mark, run) - mark.requested_s, 2) for mark in marks]}
    if kind == "out_start":
        return result
    calm = [window(mark, kind, run) for pair, mark in numbered if pair in run.undisturbed]
    alone = disturbance(run.batches, calm, steady_batches(run, run.undisturbed))
    result["undisturbed"] = asdict(alone)
    moves = [move for move in (moved(mark, run, holders) for mark in marks) if move is not None]
    shares = [move.new_share for move in moves if move.new_share is not None]
    unit_mb = run.mb / run.partitions
    return result | {
        "moved_mb_per_executor": (
            statistics.median(move.per_executor for move in moves) * unit_mb if moves else None
        ),
        "moved_units": [move.units for move in moves],
        "new_executor_state_share": statistics.median(shares) if shares else None,
        "new_executor_state_shares": shares,
        "state_spread": [move.spread for move in moves],
        "details": [mark.detail for mark in marks],
    }


def window(mark: Mark, kind: str, run: Run) -> Window:
    """Return the window of a rescale: ``in`` from the request, ``out`` from the first registration,
    ``out_start`` the part before that.
    """
    registered_s = min(
        (life.added_s for life in run.log.executors.values() if _joined_during(life.added_s, mark)),
        default=mark.requested_s,
    )
    if kind == "out_start":
        return Window(kind, mark.requested_s, registered_s, mark.before)
    return Window(
        kind, mark.requested_s if kind == "in" else registered_s, _end_s(mark, run), mark.after
    )


def steady_batches(run: Run, pairs: Collection[int] | None = None) -> dict[int, list[Timed]]:
    """Return the batches between two rescales, after the unscored ones, by number of executors; of
    the given scored ``pairs`` or of all.
    """
    by_size: dict[int, list[Timed]] = {}
    for i in range(max(0, run.unscored - 1), len(run.marks)):
        if pairs is not None and (i < run.unscored or (i - run.unscored) // 2 not in pairs):
            continue
        mark, following = run.marks[i], run.marks[i + 1 : i + 2]
        until_s, end_s = following[0].requested_s if following else float("inf"), _end_s(mark, run)
        calm = [
            batch
            for batch in run.batches
            if batch.start_s >= end_s and batch.commit_s <= until_s and not _busy(batch, run)
        ]
        by_size.setdefault(mark.after, []).extend(calm)
    return by_size


def moved(
    mark: Mark, run: Run, holders: Mapping[tuple[str, int], Mapping[int, str]]
) -> Moved | None:
    """Return the moves of the state between the request and one batch after the rescale had
    settled; None if a placement is unknown.
    """
    before = _held(
        run,
        holders,
        [i for i, batch in enumerate(run.batches) if batch.commit_s <= mark.requested_s][-1:],
    )
    after = _held(
        run,
        holders,
        [i for i, batch in enumerate(run.batches) if batch.start_s >= mark.settled_s][:1],
    )
    if before is None or after is None:
        return None
    units = [unit for unit in after if before.get(unit) != after[unit]]
    receivers = {after[unit] for unit in units}
    new = {name for name, life in run.log.executors.items() if _joined_during(life.added_s, mark)}
    even = run.partitions * len(new) / mark.after
    counts = [list(after.values()).count(executor) for executor in _alive(run, mark.settled_s)]
    return Moved(
        units=len(units),
        per_executor=len(units) / max(1, len(new) if mark.kind == "out" else len(receivers)),
        new_share=sum(holder in new for holder in after.values()) / even if new else None,
        spread=max(counts, default=0) - min(counts, default=0),
    )


def _held(
    run: Run, holders: Mapping[tuple[str, int], Mapping[int, str]], which: Sequence[int]
) -> Mapping[int, str] | None:
    return holders.get(run.ids[which[0]]) if which else None


def _alive(run: Run, at_s: float) -> list[str]:
    return [
        name
        for name, life in run.log.executors.items()
        if life.added_s <= at_s and (life.removed_s is None or life.removed_s > at_s)
    ]


def _joined_during(added_s: float, mark: Mark) -> bool:
    return mark.requested_s <= added_s <= mark.settled_s


def _end_s(mark: Mark, run: Run) -> float:
    """Return the end of a rescale: ``TAIL_BATCHES`` complete batches after it had settled."""
    after = [batch.commit_s for batch in run.batches if batch.start_s >= mark.settled_s][
        :TAIL_BATCHES
    ]
    return after[-1] if after else mark.settled_s


def _busy(batch: Timed, run: Run) -> bool:
    return any(
        batch.start_s < until_s and batch.commit_s > since_s for since_s, until_s in run.busy
    )


def _during(stall: Stall, run: Run) -> str:
    return next(
        (mark.kind for mark in run.marks if mark.requested_s <= stall.begin_s <= _end_s(mark, run)),
        "steady",
    )
