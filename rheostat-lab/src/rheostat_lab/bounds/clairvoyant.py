"""The clairvoyant: the cheapest sizes for arrivals that are known, by dynamic programming."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rheostat.errors import BadInput
from rheostat.sim.plant import Floats
from rheostat_lab.bounds.batch_grid import Batches, Steps
from rheostat_lab.bounds.batch_path import LATE_SHARE, WINDOW_S, Path
from rheostat_lab.bounds.bounded_job import Curve, Job

# Halvings of the logarithm of the price of a late row: about a thousandth of it is left open.
_SEARCHES = 14
# Some windows miss the rule at any price that suits the rest; a few such steps reach them all.
_DEARER = 8.0
# The Lagrangian bound is concave in the price and its peak lies near: the best of a few counts.
_BEYOND = (1.0, 1.5, 2.25, 3.4, 5.0)


@dataclass(frozen=True, slots=True)
class Bracket:
    """The clairvoyant's cost lies between ``lower``, which nobody can beat, and the cost of
    ``path``, which attains the objective.
    """

    lower: float
    path: Path | None
    """None where no sizes within the limits attain the objective."""

    @property
    def gap(self) -> float | None:
        """How far the path can be from the optimum, as a share of the lower end."""
        return None if self.path is None else self.path.cost / self.lower - 1


def clairvoyant(
    job: Job,
    curve: Curve,
    initial: int | None = None,
    *,
    oldest_s: float | None = None,
    fixed: Path | None = None,
) -> Bracket:
    """Return the bracket of the cheapest run with these arrivals known, from ``initial`` executors
    or, without it, from any: the best fixed size has its own from the start, too.

    Sizes change at the starts of batches. With arrivals known, executors that start need no state
    of their own: they are asked for ``start_s`` before the batch that they are for (not before the
    run's start), and paid from then. So the state is (time, age of the backlog, executors). The
    backlog may be ``oldest_s`` old (default: three objectives and two triggers), and at the last
    batch no older than at the first, or than the run ``fixed`` of the best fixed size leaves it;
    that run is one of those looked for, where it is given. The objective (99 % of rows in time) has
    a price per late row, found by bisection, and a higher one in windows of five minutes that miss
    it. ``lower`` is the Lagrangian's value, rounded in the job's favour and without the rule for
    windows; the path is rounded against it and keeps both rules. Raises BadInput for an ``initial``
    outside the limits.
    """
    # Older backlogs are never worth it: nearly all their rows are late whatever is done.
    oldest_s = 3 * job.slo.latency_s + 2 * job.trigger_s if oldest_s is None else oldest_s
    ages = max(2, math.ceil(oldest_s / curve.step_s))
    first = None if initial is None else job.index(initial)
    # Two programs: the fair one gives a path that really attains, the kind one a bound for
    # everybody.
    fair, kind = (
        _Program(Batches(job, curve, kindly=kindly), first, ages, fixed) for kindly in (False, True)
    )
    slots = float(job.sizes[-1]) * job.slots_per_executor
    # The price at which all rows being late costs as much as the largest size all along.
    scale = max(1e-12, slots * curve.step_s * curve.steps / curve.rows[-1])
    best, low, high = _search(fair, scale)
    # The grid may round the best fixed size away; it is a path all the same.
    if fixed is not None and initial is None and (best is None or fixed.cost < best.cost):
        best = fixed if fixed.attains() else best
    prices = (0.0, low, *(high * factor for factor in _BEYOND))
    return Bracket(lower=max(kind.bound(price) for price in prices), path=best)


def _search(program: _Program, scale: float) -> tuple[Path | None, float, float]:
    """Return the cheapest path that attains the objective, and the prices of a late row on both
    sides of it.
    """
    best, low, high = None, 0.0, scale * 1e-3
    for _ in range(_SEARCHES):
        # The search is on the logarithm: the price of a row may lie anywhere over many powers of
        # ten.
        price = high if best is None else math.sqrt(max(low, scale * 1e-5) * high)
        path = program.path(price)
        if path is not None and path.late_share <= LATE_SHARE and len(path.missed()):
            path = _in_windows(program, price, path)
        if path is not None and path.attains():
            high, best = price, path if best is None or path.cost < best.cost else best
        elif best is None:
            low, high = price, high * 10
            # No price makes it attain: no size within the limits is enough.
            if price > scale * 1e5:
                break
        else:
            low = price
    return best, low, high


def _in_windows(program: _Program, price: float, path: Path | None) -> Path | None:
    """Return a path at this price that keeps the rule for windows too: late rows are dearer in
    those that missed it; None where that does not help.
    """
    factors: dict[int, float] = {}
    for _ in range(4):
        if path is None or not len(missed := path.missed()):
            return path
        for window in missed.tolist():
            factors[window] = factors.get(window, 1.0) * _DEARER
        path = program.path(price, factors)
    return path


class _Plan(NamedTuple):
    """Batches that start at one step: what they cost, their late rows (and those the kind rounding
    forgets), and the state after.
    """

    paid: Floats
    late: Floats
    then: Steps
    age: Steps


class _Program:
    """Backward values and the forward path, for one rounding."""

    def __init__(
        self, batches: Batches, initial: int | None, ages: int, fixed: Path | None = None
    ) -> None:
        self._batches, self._job, self._curve = batches, batches.job, batches.curve
        self._initial, self._ages = initial, ages
        self._kindly = batches.kindly
        self._first = batches.interval
        if self._first >= self._curve.steps:
            raise BadInput(
                f"a run must last longer than a trigger interval ({self._job.trigger_s:g} s)"
            )
        self._can_grow_at = math.ceil(self._job.start_s / self._curve.step_s - 1e-9)
        # Without a rule for the end a path would let the last backlog lie, and save its work.
        self._end_age = max(self._age_at_start(), self._age_at_end(fixed))
        self._dearer: Mapping[int, float] = {}
        self._switching = self._job.switching()
        # What a batch does depends on no price, and the search asks some twenty prices.
        self._plans = {t: self._plan(t) for t in range(self._first, self._curve.steps)}

    def bound(self, price: float) -> float:
        """Return the least cost plus ``price`` per late row above the share that may be late: a
        lower bound at every price.
        """
        self._dearer = {}
        values = self._values(price)[self._first, self._first]
        value = values.min() if self._initial is None else values[self._initial]
        # The Lagrangian relaxation: rows that may be late are given back at the same price.
        return float(value) - price * LATE_SHARE * float(self._curve.rows[-1])

    def path(self, price: float, dearer: Mapping[int, float] | None = None) -> Path | None:
        """Return the cheapest path at this price of a late row, so many times ``dearer`` in some
        windows of five minutes; None if there is none.
        """
        self._dearer = dearer or {}
        values = self._values(price)
        starts = values[self._first, self._first]
        size = int(np.argmin(starts)) if self._initial is None else self._initial
        if not np.isfinite(starts[size]):
            return None
        t, age = self._first, self._first
        points: list[tuple[float, float, float, float]] = []
        cost, rescalings = float(self._curve.step_s * self._first * self._slots(size)), 0
        while t < self._curve.steps:
            after = int(
                np.argmin(
                    self._switch(t)[size] + self._work(t, price, values)[min(age, self._ages) - 1]
                )
            )
            cost += float(self._switch(t)[size, after])
            rescalings += int(after != size)
            until, lasts, late = self._batches.from_step(
                t, np.array([t - age]), self._job.sizes[[after]]
            )
            rows = float(self._curve.rows[until[0]] - self._curve.rows[t - age])
            points.append((t * self._curve.step_s, self._job.sizes[after], rows, float(late[0])))
            cost += float(
                min(lasts[0], self._curve.steps - t) * self._curve.step_s * self._slots(after)
            )
            t, age, size = t + int(lasts[0]), t + int(lasts[0] - until[0]), after
        return Path.of(points, cost, rescalings)

    def _slots(self, size: int) -> float:
        return float(self._job.sizes[size] * self._job.slots_per_executor)

    def _values(self, price: float) -> Floats:
        """Return the cost to go by step, age (from 0, unused) and the size before."""
        steps, ages, sizes = self._curve.steps, self._ages, len(self._job.sizes)
        values = np.full((steps + 1, ages + 1, sizes), np.inf)
        # Whatever the age at the end: the rule for it is an infinite price in the plans.
        values[steps] = 0.0
        # Backward in time: a batch that starts at t leads to later starts only.
        for t in sorted(self._plans, reverse=True):
            work = self._work(t, price, values)
            values[t, 1:] = (self._switch(t)[None, :, :] + work[:, None, :]).min(axis=2)
        values[self._first] += (
            self._curve.step_s * self._first * self._job.slots_per_executor * self._job.sizes
        )
        return values

    def _plan(self, t: int) -> _Plan:
        """Return what a batch that starts at step ``t`` does, by age (from 1) and size; it is the
        same at every price.
        """
        job, steps, rows = self._job, self._curve.steps, self._curve.rows
        ages = np.arange(1, self._ages + 1)
        since = np.broadcast_to(np.maximum(0, t - ages)[:, None], (self._ages, len(job.sizes)))
        sizes = np.broadcast_to(job.sizes, since.shape)
        until, lasts, late = self._batches.from_step(t, since, sizes)
        then, age = np.minimum(t + lasts, steps), t + lasts - until
        # What the cap on the age cuts off is late by then, and is paid as late here.
        forgotten = rows[np.minimum(until + np.maximum(age - self._ages, 0), steps)] - rows[until]
        # Only the fair rounding forbids it: a bound must not be raised by the grid's own limits.
        too_old = (age > self._ages) & (then < steps) & (not self._kindly)
        ends_late = (t + lasts >= steps) & (ages[:, None] > self._end_age)
        paid = (then - t) * self._curve.step_s * sizes * job.slots_per_executor
        return _Plan(
            np.where(too_old | ends_late, np.inf, paid),
            late + forgotten,
            then,
            np.minimum(age, self._ages),
        )

    def _work(self, t: int, price: float, values: Floats) -> Floats:
        """Return the cost to go of a batch that starts now, by age (from 1) and size."""
        plan = self._plans[t]
        price *= self._dearer.get(int(t * self._curve.step_s // WINDOW_S), 1.0)
        total: Floats = (
            plan.paid
            + price * plan.late
            + values[plan.then, plan.age, np.arange(len(self._job.sizes))[None, :]]
        )
        return total

    def _switch(self, t: int) -> Floats:
        grows = self._job.sizes[None, :] > self._job.sizes[:, None]
        return (
            # Nobody can be asked for before the run: the first executors to come work from then on.
            np.where(grows, np.inf, self._switching) if t < self._can_grow_at else self._switching
        )

    def _age_at_start(self) -> int:
        """Return how old the backlog may be at the last batch: as at the first, or what the largest
        size keeps.
        """
        rows, lasts = self._curve.rows, self._first
        # The hardest moment at the largest size: no path has to end better than that.
        busiest = int(np.argmax(np.diff(rows)))
        for _ in range(20):
            since = np.array([max(0, busiest - lasts)])
            lasts = max(
                self._first,
                int(self._batches.from_step(busiest, since, self._job.sizes[-1:]).lasts[0]),
            )
        return lasts

    def _age_at_end(self, fixed: Path | None) -> int:
        """Return how old the backlog is at the last batch of a run at a fixed size, in steps; it
        may end with the rows that it never takes.
        """
        if fixed is None or len(fixed.start_s) < 2:
            return 0
        last = round(float(fixed.start_s[-1]) / self._curve.step_s)
        taken = float(fixed.rows[:-1].sum()) - 1e-6
        return last - int(np.searchsorted(self._curve.rows, taken, side="left"))
