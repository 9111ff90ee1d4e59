"""The nonanticipative bound: the cheapest sizes for a policy that knows a load's law but not its
future, by stochastic dynamic programming.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rheostat.errors import BadInput
from rheostat.sim.plant import Floats
from rheostat.sim.workload import Workload
from rheostat_lab.bounds.batch_grid import Steps
from rheostat_lab.bounds.batch_path import LATE_SHARE
from rheostat_lab.bounds.bounded_job import Job
from rheostat_lab.bounds.load_law import Law, law_of

# Quadratically spaced: dense for small backlogs, where the backlog decides the size.
_BACKLOGS = 41
# Fewer than for the clairvoyant, because each search solves the complete chain.
_SEARCHES = 8


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected slot-seconds with the price of rescalings, and the expected late share."""

    cost: float
    late_share: float


@dataclass(frozen=True, slots=True)
class Blind:
    """The bound is between ``lower`` and the expected cost of ``policy``; ``between`` is the value
    with an interpolated backlog.
    """

    lower: float
    between: float
    policy: Expected | None
    """A policy that attains 99 % in expectation, with the backlog rounded up; None if there is
    none."""


def nonanticipative(
    job: Job, load: Workload, duration_s: float, initial: int | None = None
) -> Blind:
    """Return the bracket of the least expected cost of a policy that knows the law of ``load`` and
    its current rate, but not its future. It starts with ``initial`` executors, or with any number,
    as the clairvoyant does.

    A step is one start time, at least one trigger interval: executors that are requested in a step
    work from the next one on, and released executors are removed at once. The state is (step, level
    of the load, backlog in 41 values, executors). The rows are a fluid; a row waits for its
    trigger, for the backlog before it and for a batch. ``lower`` is the value of the Lagrangian
    with the backlog rounded down, ``policy`` attains the objective with the backlog rounded up.
    Because decisions are made once per step, a policy that decides more often can be cheaper by up
    to one step of executors per change; compare it with the clairvoyant's mean, which bounds every
    policy. Raises BadInput for a load without a known law.
    """
    # At least one start time, so that requests of a step work in the next one and the state needs
    # no queue of starting executors.
    step_s = max(job.start_s, job.trigger_s, duration_s / 2000)
    law = law_of(load, duration_s, step_s)
    start = None if initial is None else job.index(initial)
    # The backlog on a grid: rounded down it gives a lower bound, rounded up an attainable cost.
    down, between, up = (
        _Chain(job, law, step_s, start, rounding) for rounding in ("down", "between", "up")
    )
    attaining, low, high = _search(up)
    lower = max(down.bound(price) for price in (0.0, low, high, 2 * high))
    middle = max(between.bound(price) for price in (low, high))
    return Blind(lower=lower, between=middle, policy=attaining)


def _search(chain: _Chain) -> tuple[Expected | None, float, float]:
    """Return the expected cost of the cheapest policy that attains the objective, and the prices of
    a late row below and above it.
    """
    low, high, best = 0.0, chain.scale * 1e-3, None
    for _ in range(_SEARCHES):
        price = high if best is None else math.sqrt(max(low, chain.scale * 1e-5) * high)
        expected = chain.expected(price)
        if expected.late_share <= LATE_SHARE:
            high, best = price, expected if best is None or expected.cost < best.cost else best
        elif best is None:
            low, high = price, high * 10
            # No price makes the policy attain: even the largest size is late too often.
            if price > chain.scale * 1e6:
                break
        else:
            low = price
    return best, low, high


class _Chain:
    """The decision problem for one rounding of the backlog."""

    def __init__(self, job: Job, law: Law, step_s: float, start: int | None, rounding: str) -> None:
        self._job, self._law, self._step_s, self._start = job, law, step_s, start
        capacity = capacity_rows_per_s(job)
        if not capacity[-1] > 0:
            raise BadInput("the job commits no row at any size")
        # A size that commits nothing must not divide by 0; its backlog only grows.
        self._capacity = np.maximum(capacity, 1e-9)
        most = float(self._capacity[-1]) * 3 * job.slo.latency_s + float(law.rates.max()) * step_s
        self._backlogs = most * np.linspace(0, 1, _BACKLOGS) ** 2
        self._rounding = rounding
        self._rows = _mean_rows(law) * step_s
        self.scale = (
            float(job.sizes[-1]) * job.slots_per_executor * step_s * len(law.rates) / self._rows
        )
        leaves_s = job.stop_s * np.maximum(job.sizes[:, None] - job.sizes[None, :], 0)
        self._cost = job.slots_per_executor * (job.sizes[None, :] * step_s + leaves_s)
        self._cost = self._cost + job.rescale_cost * (job.sizes[:, None] != job.sizes[None, :])
        self._grids = [self._grid(t) for t in range(len(law.rates))]

    def bound(self, price: float) -> float:
        """Return the least expected cost plus ``price`` per late row above the allowed share."""
        value, _ = self._solve(price)
        return value - price * LATE_SHARE * self._rows

    def expected(self, price: float) -> Expected:
        """Return the expected cost and late share of the best policy at this price."""
        value, late = self._solve(price)
        return Expected(cost=value - price * late, late_share=late / self._rows)

    def _solve(self, price: float) -> tuple[float, float]:
        """Return the value at the start, and the expected late rows of the optimal policy."""
        levels, sizes = self._law.rates.shape[1], len(self._job.sizes)
        value = np.zeros((levels, _BACKLOGS, sizes))
        late = np.zeros_like(value)
        # The remaining backlog must be served at the end, at the cost of the largest size.
        value += (
            self._backlogs / self._capacity[-1] * self._job.sizes[-1] * self._job.slots_per_executor
        )[None, :, None]
        for t in reversed(range(len(self._law.rates))):
            ahead_value, ahead_late = value, late
            if t < len(self._law.moves):
                move = self._law.moves[t]
                ahead_value, ahead_late = np.tensordot(move, value, 1), np.tensordot(move, late, 1)
            value, late = self._step(t, price, ahead_value, ahead_late)
        values, lates = self._law.first @ value[:, 0], self._law.first @ late[:, 0]
        start = int(values.argmin()) if self._start is None else self._start
        return float(values[start]), float(lates[start])

    def _step(
        self, t: int, price: float, ahead_value: Floats, ahead_late: Floats
    ) -> tuple[Floats, Floats]:
        below, share, late = self._grids[t]
        sizes = np.arange(len(self._job.sizes))
        serving = np.minimum(
            sizes[:, None], sizes[None, :]
        )  # starting executors do not work yet, and removed ones no longer
        level = np.arange(late.shape[0])[:, None, None, None]
        lower, over = below[:, :, serving], share[:, :, serving]
        after = sizes[None, None, None, :]
        total = self._cost + price * late[:, :, serving]
        upper = np.minimum(lower + 1, _BACKLOGS - 1)
        total = (
            total
            + (1 - over) * ahead_value[level, lower, after]
            + over * ahead_value[level, upper, after]
        )
        best = total.argmin(axis=3)[..., None]
        late_total = (
            late[:, :, serving]
            + (1 - over) * ahead_late[level, lower, after]
            + over * ahead_late[level, upper, after]
        )
        return (
            np.take_along_axis(total, best, 3)[..., 0],
            np.take_along_axis(late_total, best, 3)[..., 0],
        )

    def _grid(self, t: int) -> tuple[Steps, Floats, Floats]:
        """Return the grid index of the next backlog, its share of the following index, and the late
        rows.

        The axes are level, backlog and working size.
        """
        rates = self._law.rates[t][:, None, None]
        backlog = np.maximum(
            0.0,
            self._backlogs[None, :, None] + (rates - self._capacity[None, None, :]) * self._step_s,
        )
        # Rows beyond the grid count as late, so that no state is missing.
        lost = np.maximum(0.0, backlog - self._backlogs[-1])
        place = np.interp(backlog, self._backlogs, np.arange(_BACKLOGS))
        if self._rounding != "between":
            place = np.floor(place + 1e-9) if self._rounding == "down" else np.ceil(place - 1e-9)
        below = np.minimum(place.astype(np.int64), _BACKLOGS - 1)
        return below, place - below, self._late(rates, backlog) + lost

    def _late(self, rates: Floats, backlog: Floats) -> Floats:
        """Return the late rows of a step: a row waits for the trigger, for the backlog before it
        and for its batch.
        """
        job = self._job
        sizes = np.broadcast_to(job.sizes, backlog.shape)
        # A batch that keeps up has the rows of one interval, or of one second without an interval.
        takes_s = job.batch_s(
            np.broadcast_to(rates * max(job.trigger_s, 1.0), backlog.shape), sizes
        )
        waits_s = np.maximum(job.trigger_s, takes_s)
        over_s = backlog / self._capacity + waits_s + takes_s - job.slo.latency_s
        late: Floats = rates * self._step_s * np.clip(over_s / np.maximum(waits_s, 1e-9), 0.0, 1.0)
        return late


def capacity_rows_per_s(job: Job) -> Floats:
    """Return the rows/s that each size sustains: a batch takes as long as its rows to arrive."""
    within_s = job.trigger_s or job.slo.latency_s / 2
    low, high = np.zeros(len(job.sizes)), np.full(len(job.sizes), 1.0)
    for _ in range(60):
        # Doubled until it is too much, then bisected: the batch time is any increasing function of
        # the rows.
        high = np.where(job.batch_s(high, job.sizes) <= within_s, high * 2, high)
    for _ in range(60):
        middle = (low + high) / 2
        fits = job.batch_s(middle, job.sizes) <= within_s
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.minimum(low, job.max_rows) / within_s


def _mean_rows(law: Law) -> float:
    """Return the expected sum of the rates over the steps."""
    chance, total = law.first, 0.0
    for t, rates in enumerate(law.rates):
        total += float(chance @ rates)
        if t < len(law.moves):
            chance = chance @ law.moves[t]
    return total
