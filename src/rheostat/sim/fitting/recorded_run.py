"""Extracts batches, arrivals and sizes of a Spark query from a recording, for the fit."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.replay.recording import Recording
from rheostat.replay.validate import Moment
from rheostat.signals.lag import is_rows_limited, rows_left
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.bookkeeping import Book
from rheostat.sim.plant import Ledger
from rheostat.sim.workload import RecordedLoad

_FEWEST_LIMITED = 3
"""Batches at a limit of rows that show it."""

_FEWEST_BATCHES = 8
_GAP = 20.0
"""Multiple of the median distance between two rows from which their distance is a gap."""

_EARLY = 0.3
"""Share of a batch after which a newly registered executor gets none of the batch's first tasks."""


@dataclass(frozen=True, slots=True)
class RecordedBatch:
    """A recorded batch: its end (seconds from the start), duration, rows and executors."""

    end_s: float
    batch_s: float
    rows: int
    executors: float
    """Registered executors, mean over the batch."""

    new: int
    """Executors whose first batch this is, or would be if all batches had been recorded."""

    starting: float = 0.0
    """Requested executors that have not registered yet, mean over the batch."""

    ages_s: tuple[float, ...] = ()
    """Seconds for which each executor had been registered in the middle of the batch, oldest first;
    the first ``first`` of them are those of the recording's start."""

    first: int = 0

    busy_s: float | None = None
    """Run time of its tasks in slot-seconds; None if it was not recorded."""

    @property
    def begin_s(self) -> float:
        """Its start, in seconds from the start of the recording."""
        return self.end_s - self.batch_s

    @property
    def middle_s(self) -> float:
        """The middle between its start and its end."""
        return (self.begin_s + self.end_s) / 2


@dataclass(frozen=True)
class Recorded:
    """A run: its observations with ``t_s`` from 0, and values derived from them."""

    observations: tuple[Observation, ...]
    start_s: float
    """The first time of the recording, in its own epoch."""

    batches: tuple[RecordedBatch, ...]

    @property
    def duration_s(self) -> float:
        """Seconds from the first observation to the last."""
        return self.observations[-1].t_s

    @property
    def slots_per_executor(self) -> int:
        """Slots of an executor; 1 if it was not recorded."""
        return next(filter(None, (now.slots_per_executor for now in self.observations)), 1)

    @property
    def interval_s(self) -> float:
        """The median time between two observations, in seconds."""
        return statistics.median(
            late.t_s - early.t_s for early, late in pairwise(self.observations)
        )

    @property
    def trigger_s(self) -> float:
        """The trigger interval in seconds; 0 if it was not recorded."""
        return next(filter(None, (now.trigger_s for now in self.observations)), 0.0)

    @property
    def rows_limit(self) -> int | None:
        """The limit of rows per batch (as ``maxOffsetsPerTrigger``); None without a sign of one.

        A limit shows in three batches with as many rows as the largest one.
        """
        ends = [late for early, late in pairwise(self.observations) if ended(early, late)]
        most = max((now.batch_rows or 0 for now in ends), default=0)
        limited = [
            now for now in ends if is_rows_limited(now.batch_rows or 0, most, rows_left(now))
        ]
        return most if len(limited) >= _FEWEST_LIMITED else None

    @cached_property
    def sizes(self) -> tuple[tuple[float, int], ...]:
        """The registered executors over time: (second, executors) at every change."""
        changes: list[tuple[float, int]] = []
        for observation in self.observations:
            if observation.executors and (not changes or changes[-1][1] != observation.executors):
                changes.append((observation.t_s, observation.executors))
        return tuple(changes)

    def arrivals(self) -> RecordedLoad:
        """Return the recorded arrival rates; each applies to the time before its observation."""
        rates: list[float] = []
        rate = 0.0
        # Go backwards, because an absent rate takes that of the next observation.
        for observation in reversed(self.observations[1:]):
            known = observation.input_rows_per_s
            rate = rate if known is None else known
            rates.append(rate)
        return RecordedLoad(
            tuple(now.t_s for now in self.observations[:-1]), tuple(reversed(rates))
        )

    def starting_at(self, t_s: float) -> float:
        """Return the executors that are missing from the target at ``t_s``."""
        index = bisect_right(self._times_s, t_s)
        return starting(self.observations[max(0, index - 1)]) or 0.0

    def executors_at(self, t_s: float) -> int:
        """Return the registered executors at ``t_s``."""
        index = bisect_right(self.sizes, (t_s, math.inf))
        return self.sizes[max(0, index - 1)][1]

    @cached_property
    def _times_s(self) -> tuple[float, ...]:
        return tuple(observation.t_s for observation in self.observations)


def recorded(recording: Recording) -> Recorded:
    """Return the run of the application with the most observations.

    Raises BadInput for missing signals (executors, arrival rate, lag, batches) and time gaps.
    """
    # A recording may contain several applications; only one is fitted.
    moments = max(recording.values(), key=len)
    if len(moments) < 2:
        raise BadInput("a recording that is to be fitted needs two rows or more")
    origin_s = moments[0].observation.t_s
    observations = tuple(
        replace(moment.observation, t_s=moment.observation.t_s - origin_s) for moment in moments
    )
    for name in ("executors", "input_rows_per_s", "lag_rows", "batch_s", "batch_rows"):
        if all(getattr(observation, name) is None for observation in observations):
            raise BadInput(
                f"the recording has no {name}; a Spark plant is fitted to executors, arrival rate,"
                " lag and batches"
            )
    for index in _gaps(moments)[:1]:
        # Batches, sizes and arrivals in a gap are unknown; a fit over it would invent them.
        early, late = moments[index - 1 : index + 1]
        gap_s = late.observation.t_s - early.observation.t_s
        raise BadInput(
            f"{late.where}: a gap of {gap_s:.0f} s without rows; what happened in it cannot be"
            " fitted: cut the recording there"
        )
    batches = _batches(observations)
    if len(batches) < _FEWEST_BATCHES:
        raise BadInput(
            f"the recording shows too few batches with rows: {len(batches)}, and a fit needs"
            f" {_FEWEST_BATCHES}"
        )
    return Recorded(observations, origin_s, batches)


def parts(moments: Sequence[Moment]) -> list[Sequence[Moment]]:
    """Return the parts of a recording between its gaps, such as those around a restart."""
    return [moments[i:j] for i, j in pairwise([0, *_gaps(moments), len(moments)])]


def _gaps(moments: Sequence[Moment]) -> list[int]:
    """Return the positions of the moments behind a gap."""
    apart_s = [late.observation.t_s - early.observation.t_s for early, late in pairwise(moments)]
    most_s = max(_GAP * statistics.median(apart_s), 60.0) if apart_s else 0.0
    return [index for index, distance_s in enumerate(apart_s, start=1) if distance_s > most_s]


def _batches(observations: Sequence[Observation]) -> tuple[RecordedBatch, ...]:
    """Return the batches with rows, each from the first observation after its end."""
    batches: list[RecordedBatch] = []
    times_s = [observation.t_s for observation in observations]
    changes = _changes(observations)
    for early, late in pairwise(observations):
        if not ended(early, late) or late.batch_s is None or late.batch_rows is None:
            continue
        end_s = end_of_batch_s(early, late)
        begin_s = end_s - late.batch_s
        # Use only observations near the batch: a recording of a day has thousands.
        low = max(0, bisect_left(times_s, begin_s) - 2)
        near = observations[low : bisect_right(times_s, end_s) + 2]
        executors = _mean(near, _registered, begin_s, end_s)
        if executors is not None:
            after_s = batches[-1].begin_s if batches else -math.inf
            new = _new(changes, after_s, begin_s + _EARLY * late.batch_s)
            crowd = _mean(near, starting, begin_s, end_s) or 0.0
            ages_s, first = _ages_s(changes, (begin_s + end_s) / 2)
            counts = (late.batch_rows, executors, new, crowd, ages_s, first)
            batches.append(RecordedBatch(end_s, late.batch_s, *counts, _busy_s(late)))
    return tuple(batches)


def ended(early: Observation, late: Observation) -> bool:
    """Return whether a batch with rows ended between two observations."""
    # Observations repeat the last batch; a new one with equal values cannot be distinguished.
    other = (early.batch_s, early.batch_rows) != (late.batch_s, late.batch_rows)
    return other and bool(late.batch_s) and bool(late.batch_rows)


def end_of_batch_s(early: Observation, late: Observation) -> float:
    """Return when the last batch between two observations ended."""
    # The running batch began when the last one ended, or later.
    running_s = late.in_flight.elapsed_s if late.in_flight else 0.0
    return min(late.t_s, max(early.t_s, late.t_s - running_s))


def load_of(run: Recorded) -> RecordedLoad:
    """Return the arrivals of a run; the initial lag arrives in its first second."""
    lags = (observation.lag_rows for observation in run.observations)
    waiting = next((rows for rows in lags if rows is not None), 0.0)
    # A plant begins without a backlog, so the recorded one must arrive.
    return replace(run.arrivals(), waiting_rows=float(waiting))


def starting(observation: Observation) -> float | None:
    """Return the number of executors missing from the target; None if it is unknown."""
    if observation.target is None or not observation.executors:
        return None
    return float(max(0, observation.target - observation.executors))


def _registered(observation: Observation) -> float | None:
    return float(observation.executors) if observation.executors else None


def _mean(
    observations: Sequence[Observation],
    of: Callable[[Observation], float | None],
    begin_s: float,
    end_s: float,
) -> float | None:
    """Return the mean over a batch; each observation applies halfway to its neighbours."""
    total = weight = 0.0
    for number, observation in enumerate(observations):
        low = (observations[number - 1].t_s + observation.t_s) / 2 if number else -math.inf
        high = (
            (observation.t_s + observations[number + 1].t_s) / 2
            if number + 1 < len(observations)
            else math.inf
        )
        held_s = min(high, end_s) - max(low, begin_s)
        value = of(observation)
        if value is not None and held_s > 0:
            total, weight = total + held_s * value, weight + held_s
    return total / weight if weight else None


def _busy_s(observation: Observation) -> float | None:
    """Return the run time of the last batch's tasks; None unless all stages have one."""
    stages = [stage.busy_s for stage in observation.stages or ()]
    known = [busy_s for busy_s in stages if busy_s]
    return sum(known) if known and len(known) == len(stages) else None


def _changes(observations: Sequence[Observation]) -> list[tuple[float, int]]:
    """Return the first time and size, and each change halfway between its two observations."""
    known = [observation for observation in observations if observation.executors]
    changes = [(known[0].t_s, known[0].executors or 0)] if known else []
    changes += [
        ((early.t_s + late.t_s) / 2, late.executors or 0)
        for early, late in pairwise(known)
        if early.executors != late.executors
    ]
    return changes


def _ages_s(changes: Sequence[tuple[float, int]], t_s: float) -> tuple[tuple[float, ...], int]:
    """Return the ages of the executors at ``t_s``, and how many of them are from the start; the
    youngest are assumed to be removed first.
    """
    begin_s, first = changes[0]
    born_s = [begin_s] * first
    for at_s, size in changes[1:]:
        if at_s > t_s:
            break
        if size > len(born_s):
            born_s += [at_s] * (size - len(born_s))
        else:
            born_s = born_s[:size]  # the youngest executors are at the end
        first = min(first, len(born_s))
    return tuple(max(0.0, t_s - registered_s) for registered_s in born_s), first


def _new(changes: Sequence[tuple[float, int]], after_s: float, until_s: float) -> int:
    """Return the number of executors that registered in (``after_s``, ``until_s``]."""
    return sum(
        max(0, late - early)
        for (_, early), (at_s, late) in pairwise(changes)
        if after_s < at_s <= until_s
    )


def recorded_ledger(run: Recorded) -> Ledger:
    """Return the ledger of a recorded run: arrivals, lag, batches and sizes.

    Fails when: several batches end between two observations; their rows count as committed one
    batch earlier.
    """
    arrivals = Arrivals(load_of(run))
    book = Book(arrivals, run.executors_at(0.0))
    done = 0.0
    for early, late in pairwise(run.observations):
        _note_sizes(book, late)
        if late.lag_rows is None or not ended(early, late):
            continue
        # Commits never decrease: a lag that is read slightly late would take rows away again.
        rows = max(done, arrivals.rows_at(late.t_s) - late.lag_rows)
        first = max(done, rows - (late.batch_rows or 0))
        end_s = _committed_s(arrivals, early, late, first, rows)
        # Unobserved batches ended, too: their rows were committed before the observed batch.
        if first > done:
            usual_s = max(late.batch_s or 0.0, late.trigger_s or 0.0)
            book.committed(max(early.t_s, end_s - usual_s), first)
        book.committed(end_s, rows)
        done = rows
    return book.ledger(max(run.duration_s, 1.0))


def _committed_s(
    arrivals: Arrivals, early: Observation, late: Observation, first: float, rows: float
) -> float:
    """Return when the last batch between two observations, which has these rows, was committed."""
    if late.latency_s is None or rows <= first:
        return end_of_batch_s(early, late)
    # Limit it to the time between the two observations, in which the batch must have ended.
    return min(late.t_s, max(early.t_s, arrivals.mean_time(first, rows) + late.latency_s))


def _note_sizes(book: Book, observation: Observation) -> None:
    if observation.executors:
        book.registered(observation.t_s, observation.executors)
        book.paid(observation.t_s, max(observation.executors, observation.target or 0))
    if observation.size:
        book.target(observation.t_s, observation.size)
