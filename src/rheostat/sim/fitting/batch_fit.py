"""Fits the batch model of the Spark plant to recorded batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from rheostat.sim.fitting.recorded_run import Recorded, RecordedBatch
from rheostat.sim.plant import Floats, PlantWrapper
from rheostat.sim.spark.spark_capacity import batch_time
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant

_SHARE_OF_FLOOR = (0.3, 0.7)
# A machine's pace varies over minutes; with more knots it would follow single batches.
_KNOTS = 5
_TRIES = 40
_ENOUGH_FOR_PACE = 20
_STIFFNESS = 1.0
"""Penalty, in residuals, of a pace that changes by a factor e between two knots, of a pace that
doubles per starting executor, and of a warm-up that takes e times the usual time."""

_STIFFNESS_NEW = 0.3
"""Penalty, in residuals, of a pace that doubles on new executors, and of a first task that adds the
time of a fast batch."""

_BUSY = 0.5
"""Weight of the run time of a batch's tasks, relative to the batch duration."""

# Seconds for which an executor counts as new, if the recording contains no new executor.
_USUAL_NEW_S = 40.0
_PLAIN = 9
"""Number of parameters that precede those of the pace over time."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The plant's parameters and the pace of the recorded machine."""

    parameters: SparkParameters
    pace: Pace

    def predicted_s(self, batches: Sequence[RecordedBatch]) -> Floats:
        """Return modelled batch times (s) from rows, executors and pace."""
        return _predicted_s(self.parameters, self.pace, _data(batches))


@dataclass(frozen=True, slots=True)
class _Data:
    middle_s: Floats
    rows: Floats
    executors: Floats
    new: Floats
    starting: Floats
    batch_s: Floats
    busy_s: Floats | None
    """Run time of each batch's tasks; None unless all batches have one."""

    batches: Sequence[RecordedBatch]


def fit(run: Recorded, batches: Sequence[RecordedBatch]) -> Fit:
    """Return the plant that fits these batches best.

    The fit is a robust least-squares fit of log(predicted / measured) over fixed cost, slot time
    per task and row, contention, first-task time, and the machine's pace (over time, per starting
    executor, on new executors). Runs with one size get no contention, short runs no pace over time.
    The residual is the noise.
    """
    search = _Search.of(run, batches)
    low, high = (
        np.array(limit + (bend,) * (len(search.times) - 1))
        for limit, bend in zip(_LIMITS, (-2.0, 2.0), strict=True)
    )
    tasks = search.source + search.state
    # Move the start inside the limits: the search rejects a start on a limit.
    starts = [
        np.clip(start, low + 1e-9, high - 1e-9)
        for start in _starts(search.data, tasks, len(search.times), run)
    ]
    left = search.residuals
    solved = [
        # The loss is nearly linear beyond 0.2, so a batch that takes twice as long has little pull.
        least_squares(left, start, loss="soft_l1", f_scale=0.2, bounds=(low, high), max_nfev=_TRIES)
        for start in starts
    ]
    # Search from two starts: fixed cost and task time trade off, so there are two local minima.
    best = min(solved, key=lambda solution: float(solution.cost))
    # The median absolute error over 0.6745 estimates a normal distribution's standard deviation,
    # regardless of a few stragglers.
    spread = min(2.0, float(np.median(np.abs(left(best.x)[: len(batches)]))) / 0.6745)
    best_fit = search.fit_of(best.x)
    # Apply noise only per batch: the maximum over noisy tasks would exceed the fitted batch time.
    return Fit(replace(best_fit.parameters, batch_noise=spread, task_noise=0.0), best_fit.pace)


@dataclass(frozen=True, slots=True)
class _Search:
    """The data and constants of the search, and the meaning of its parameter vector."""

    run: Recorded
    data: _Data
    source: int
    state: int
    times: tuple[float, ...]
    start_s: float
    floor_s: float

    @classmethod
    def of(cls, run: Recorded, batches: Sequence[RecordedBatch]) -> _Search:
        """Return the search of a fit to these batches."""
        data, (source, state) = _data(batches), _partitions(run)
        knots = _KNOTS if len(batches) >= _ENOUGH_FOR_PACE else 1
        times = tuple(np.linspace(0.0, run.duration_s, knots).tolist())
        floor_s = float(np.quantile(data.batch_s, 0.1))
        return cls(run, data, source, state, times, start_s(run), floor_s)

    def fit_of(self, x: Floats) -> Fit:
        """Return the plant and the pace of a parameter vector."""
        several = len(set(np.round(self.data.executors))) > 1
        parameters = SparkParameters(
            executors=self.run.executors_at(0.0),
            slots_per_executor=self.run.slots_per_executor,
            trigger_s=self.run.trigger_s,
            max_rows=self.run.rows_limit,
            source_partitions=self.source,
            state_partitions=self.state,
            # Search times as logarithms, which keeps them positive and makes errors relative.
            fixed_s=math.exp(x[0]),
            source_task_s=math.exp(x[1]),
            state_commit_s=math.exp(x[1]),
            source_row_s=math.exp(x[2]),
            state_row_s=math.exp(x[2]),
            usl_sigma=float(x[3]) if several else 0.0,
            cold_s=float(x[4]) if self.data.new.any() else 0.0,
            cold_state_s=0.0,
            load_s=0.0,
            start_s=self.start_s,
            concurrent_start_s=0.0,
            start_noise=0.0,
        )
        # Fix the pace to 1 at the last knot; otherwise pace and cost could trade a factor.
        factors = tuple(np.exp(np.append(x[_PLAIN:], 0.0)).tolist())
        per_start = float(x[5]) if self.data.starting.any() else 0.0
        pace = Pace(self.times, factors, per_start, float(x[6]), math.exp(x[7]), float(x[8]))
        return Fit(parameters, pace)

    def residuals(self, x: Floats) -> Floats:
        """Return the logarithmic error of each batch, and the penalties of the parameters."""
        candidate = self.fit_of(x)
        off = np.log(
            _predicted_s(candidate.parameters, candidate.pace, self.data) / self.data.batch_s
        )
        steps = np.diff(np.append(x[_PLAIN:], 0.0))
        held = (x[5:6], x[7:8] - math.log(_USUAL_NEW_S), steps)
        new = (x[6:7], x[4:5] / self.floor_s)
        busy = _busy_off(candidate, self.data)
        return np.concatenate(
            (
                off,
                busy,
                *(_STIFFNESS * penalty for penalty in held),
                *(_STIFFNESS_NEW * penalty for penalty in new),
            )
        )


def _busy_off(candidate: Fit, data: _Data) -> Floats:
    """Return the weighted logarithmic error of each batch's task run time; empty if not recorded.

    It separates the fixed cost of a batch from the cost of its tasks, which batch times of a single
    size cannot do.
    """
    if data.busy_s is None:
        return np.empty(0)
    model, slots = candidate.parameters.model, candidate.parameters.slots_per_executor
    slowdown = np.array([model.curve.slowdown(max(1, round(n * slots))) for n in data.executors])
    work_s = sum(
        stage.tasks * stage.task_s + data.rows * stage.rows_in * stage.row_s * slowdown
        for stage in model.stages
    )
    off: Floats = _BUSY * np.log(work_s * candidate.pace.at(data.middle_s) / data.busy_s)
    return off


def _predicted_s(p: SparkParameters, pace: Pace, data: _Data) -> Floats:
    """Return modelled batch times; executors may be fractional, and new ones add the cold time."""
    takes_s = batch_time(p.model, p.slots_per_executor)
    low = np.maximum(1.0, np.floor(data.executors))
    share = data.executors - low
    # A fractional number means a change during the batch: interpolate between both sizes.
    warm_s = (1 - share) * takes_s(data.rows, low) + share * takes_s(data.rows, low + 1)
    newness = np.array([pace.newness(batch.ages_s, batch.first) for batch in data.batches])
    factor = (
        pace.at(data.middle_s) * (1 + pace.per_start * data.starting) * (1 + pace.new * newness)
    )
    predicted_s: Floats = factor * warm_s + p.cold_s * (data.new > 0)
    return predicted_s


def start_s(run: Recorded) -> float:
    """Return the median start time of an executor; the plant's default if none was recorded."""
    waits_s: list[float] = []
    request: tuple[float, int] | None = None
    previous_target: int | None = None
    for observation in run.observations:
        if (
            observation.target is not None
            and previous_target is not None
            and observation.target > previous_target
        ):
            request = (observation.t_s, observation.target)
        # A change is complete with its last executor.
        if request and observation.executors and observation.executors >= request[1]:
            waits_s.append(max(0.0, observation.t_s - request[0]))
            request = None
        previous_target = observation.target if observation.target is not None else previous_target
    return float(np.median(waits_s)) if waits_s else SparkParameters().start_s


_LIMITS = (
    (math.log(1e-4), math.log(1e-5), math.log(1e-8), 0.0, 0.0, 0.0, 0.0, math.log(5), 0.0),
    (math.log(600), math.log(60), math.log(10), 1.0, 120.0, 20.0, 10.0, math.log(300), 1.0),
)


def _data(batches: Sequence[RecordedBatch]) -> _Data:
    names = ("middle_s", "rows", "executors", "new", "starting", "batch_s")
    columns = {
        name: np.array([getattr(batch, name) for batch in batches], dtype=float) for name in names
    }
    known = [batch.busy_s for batch in batches if batch.busy_s]
    busy_s = np.array(known) if len(known) == len(batches) else None
    return _Data(**columns, busy_s=busy_s, batches=batches)


def _partitions(run: Recorded) -> tuple[int, int]:
    """Return the source tasks and state partitions of the recording."""
    state = max((observation.state_partitions or 0 for observation in run.observations), default=0)
    flights = [observation.in_flight for observation in run.observations if observation.in_flight]
    tasks = max(
        ((flight.tasks_done or 0) + (flight.tasks_left or 0) for flight in flights), default=0
    )
    # With no more tasks than state partitions, only one stage was observed in flight.
    return (tasks - state if tasks > state else state or SparkParameters().source_partitions), state


def _starts(data: _Data, tasks: int, knots: int, run: Recorded) -> list[Floats]:
    """Return the starting points of the search."""
    floor_s = float(np.quantile(data.batch_s, 0.1))
    slots = data.executors * run.slots_per_executor
    work_s = np.maximum(data.batch_s - 0.5 * floor_s, 0.1 * data.batch_s)
    row_s = float(np.median(work_s * slots / data.rows)) / 2
    waves = tasks / float(np.median(slots))
    even = [0.5, math.log(_USUAL_NEW_S), 0.5, *[0.0] * (knots - 1)]
    return [
        np.array(
            [
                math.log(share * floor_s),
                math.log((1 - share) * floor_s / waves),
                math.log(row_s),
                0.2,
                floor_s,
                0.1,
                *even,
            ]
        )
        for share in _SHARE_OF_FLOOR
    ]


@dataclass(frozen=True, slots=True)
class Pace:
    """Factor on batch times, relative to warm executors on an idle machine.

    It interpolates ``factors`` at ``t_s``, adds ``per_start`` for each starting executor, and adds
    ``new`` times their mean newness, which decays with time constant ``new_s``. ``first`` is the
    newness of the initial executors.
    """

    t_s: tuple[float, ...] = (0.0,)
    factors: tuple[float, ...] = (1.0,)
    per_start: float = 0.0
    new: float = 0.0
    new_s: float = 40.0
    first: float = 0.0

    def at(self, t_s: Floats) -> Floats:
        """Return the factor at each time, constant before the first and after the last knot."""
        return np.interp(t_s, self.t_s, self.factors)

    def newness(self, ages_s: Sequence[float], first: int) -> float:
        """Return the mean newness of executors; 1 if all have just registered."""
        shares = [math.exp(-age_s / self.new_s) for age_s in ages_s]
        newness = self.first * sum(shares[:first]) + sum(shares[first:])
        return newness / len(shares) if shares else 0.0


class PacedPlant(PlantWrapper):
    """A Spark plant with a pace; ``starting(t_s)`` overrides the number of starting executors."""

    def __init__(
        self, plant: SparkPlant, pace: Pace, starting: Callable[[float], float] | None = None
    ) -> None:
        super().__init__(plant)
        self._paced, self._pace, self._starting = plant, pace, starting

    def advance(self, now: float) -> None:
        """Run all events due up to ``now``, then set the pace from then on."""
        super().advance(now)
        fleet, pace = self._paced.fleet, self._pace
        missing = max(0, fleet.target - len(fleet.staying))
        starting = self._starting(now) if self._starting else missing
        # Executors are numbered in order of registration, so the initial ones come first.
        first = sum(executor.number < self._paced.p.executors for executor in fleet.executors)
        newness = pace.newness([now - executor.registered_s for executor in fleet.executors], first)
        of_machine = float(pace.at(np.array([now]))[0])
        factor = of_machine * (1 + pace.per_start * starting) * (1 + pace.new * newness)
        self._paced.slow = factor
        for executor in fleet.executors:
            # Every call sets the factor again, so it needs no end.
            executor.slow, executor.slow_until_s = factor, math.inf
