"""The clairvoyant bound: the cheapest sizes for known arrivals, by dynamic programming."""

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

# Bisections of the logarithm of the price of a late row; they determine it to about a thousandth.
_SEARCHES = 14
# Factor of the price in windows that violate the rule at any price that suits the other windows.
_DEARER = 8.0
# The Lagrangian bound is concave in the price, so its peak is near: try some multiples.
_BEYOND = (1.0, 1.5, 2.25, 3.4, 5.0)


@dataclass(frozen=True, slots=True)
class Bracket:
    """The clairvoyant's cost is between ``lower``, which no policy can beat, and the cost of
    ``path``, which attains the objective.
    """

    lower: float
    path: Path | None
    """None if no sizes within the limits attain the objective."""

    @property
    def gap(self) -> float | None:
        """The maximum distance of the path from the optimum, relative to the lower bound."""
        return None if self.path is None else self.path.cost / self.lower - 1


def clairvoyant(
    job: Job,
    curve: Curve,
    initial: int | None = None,
    *,
    oldest_s: float | None = None,
    fixed: Path | None = None,
) -> Bracket:
    """Return the bracket of the cheapest run with known arrivals. It begins with ``initial``
    executors; without it with any number, because the best fixed size also has its own from the
    start.

    Sizes change at the starts of batches. Because the arrivals are known, starting executors need
    no state of their own: they are requested ``start_s`` before their first batch (not before the
    start of the run), and paid from then on. The state is therefore (time, age of the backlog,
    executors). The backlog may be ``oldest_s`` old (default: three objectives and two triggers). At
    the last batch it may not be older than at the first one, or than in ``fixed``, the run of the
    best fixed size, which is then also a candidate. The objective (99 % of rows in time) becomes a
    price per late row, found by bisection, with a higher price in five-minute windows that violate
    their rule. ``lower`` is the value of the Lagrangian, rounded in the job's favor and without the
    rule for windows; the path is rounded against the job and keeps both rules. Raises BadInput for
    an ``initial`` outside the limits.
    """
    # An older backlog is never optimal, because nearly all its rows are late anyway.
    oldest_s = 3 * job.slo.latency_s + 2 * job.trigger_s if oldest_s is None else oldest_s
    ages = max(2, math.ceil(oldest_s / curve.step_s))
    first = None if initial is None else job.index(initial)
    # Two programs: the fair one gives an attainable path, the kind one a bound for all policies.
    fair, kind = (
        _Program(Batches(job, curve, kindly=kindly), first, ages, fixed) for kindly in (False, True)
    )
    slots = float(job.sizes[-1]) * job.slots_per_executor
    # The price at which all rows being late costs as much as the largest size for the complete run.
    scale = max(1e-12, slots * curve.step_s * curve.steps / curve.rows[-1])
    best, low, high = _search(fair, scale)
    # The grid may exclude the best fixed size, which is nevertheless a valid path.
    if fixed is not None and initial is None and (best is None or fixed.cost < best.cost):
        best = fixed if fixed.attains() else best
    prices = (0.0, low, *(high * factor for factor in _BEYOND))
    return Bracket(lower=max(kind.bound(price) for price in prices), path=best)


def _search(program: _Program, scale: float) -> tuple[Path | None, float, float]:
    """Return the cheapest path that attains, and the prices of a late row around it."""
    best, low, high = None, 0.0, scale * 1e-3
    for _ in range(_SEARCHES):
        # Bisection on the logarithm, because the price may vary over many orders of magnitude.
        price = high if best is None else math.sqrt(max(low, scale * 1e-5) * high)
        path = program.path(price)
        if path is not None and path.late_share <= LATE_SHARE and len(path.missed()):
            path = _in_windows(program, price, path)
        if path is not None and path.attains():
            high, best = price, path if best is None or path.cost < best.cost else best
        elif best is None:
            low, high = price, high * 10
            # No price makes the path attain: no size within the limits is enough.
            if price > scale * 1e5:
                break
        else:
            low = price
    return best, low, high


def _in_windows(program: _Program, price: float, path: Path | None) -> Path | None:
    """Return a path at this price that also keeps the rule for windows, by a higher price in those
    that violated it; None if that does not help.
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
    """Batches that start at one step: their cost, their late rows (including those that the age
    limit drops), and the state after them.
    """

    paid: Floats
    late: Floats
    then: Steps
    age: Steps


class _Program:
    """The backward values and the forward path for one rounding."""

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
        # Without a rule for the end, a path would save the work of the last backlog.
        self._end_age = max(self._age_at_start(), self._age_at_end(fixed))
        self._dearer: Mapping[int, float] = {}
        self._switching = self._job.switching()
        # The batches do not depend on the price, and the search tries about twenty prices.
        self._plans = {t: self._plan(t) for t in range(self._first, self._curve.steps)}

    def bound(self, price: float) -> float:
        """Return the least cost plus ``price`` per late row above the allowed share, which is a
        lower bound at every price.
        """
        self._dearer = {}
        values = self._values(price)[self._first, self._first]
        value = values.min() if self._initial is None else values[self._initial]
        # The Lagrangian relaxation: the allowed late rows are refunded at the same price.
        return float(value) - price * LATE_SHARE * float(self._curve.rows[-1])

    def path(self, price: float, dearer: Mapping[int, float] | None = None) -> Path | None:
        """Return the cheapest path at this price of a late row, multiplied by ``dearer`` in some
        five-minute windows; None if there is none.
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
        """Return the cost-to-go by step, age (from 0, unused) and previous size."""
        steps, ages, sizes = self._curve.steps, self._ages, len(self._job.sizes)
        values = np.full((steps + 1, ages + 1, sizes), np.inf)
        # For any age at the end, because the rule for the end is an infinite price in the plans.
        values[steps] = 0.0
        # Backward in time: a batch that starts at t leads only to later starts.
        for t in sorted(self._plans, reverse=True):
            work = self._work(t, price, values)
            values[t, 1:] = (self._switch(t)[None, :, :] + work[:, None, :]).min(axis=2)
        values[self._first] += (
            self._curve.step_s * self._first * self._job.slots_per_executor * self._job.sizes
        )
        return values

    def _plan(self, t: int) -> _Plan:
        """Return the effect of a batch that starts at step ``t``, by age (from 1) and size; it is
        the same at every price.
        """
        job, steps, rows = self._job, self._curve.steps, self._curve.rows
        ages = np.arange(1, self._ages + 1)
        since = np.broadcast_to(np.maximum(0, t - ages)[:, None], (self._ages, len(job.sizes)))
        sizes = np.broadcast_to(job.sizes, since.shape)
        until, lasts, late = self._batches.from_step(t, since, sizes)
        then, age = np.minimum(t + lasts, steps), t + lasts - until
        # Rows that the limit of the age drops are late, and are paid as late here.
        forgotten = rows[np.minimum(until + np.maximum(age - self._ages, 0), steps)] - rows[until]
        # Only the fair rounding forbids it, because limits of the grid must not raise a lower
        # bound.
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
        """Return the cost-to-go of a batch that starts now, by age (from 1) and size."""
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
            # Executors cannot be requested before the run, so the first new ones work from then on.
            np.where(grows, np.inf, self._switching) if t < self._can_grow_at else self._switching
        )

    def _age_at_start(self) -> int:
        """Return the maximum age of the backlog at the last batch: that at the first batch, or the
        one that the largest size keeps.
        """
        rows, lasts = self._curve.rows, self._first
        # The hardest moment at the largest size: no path must end better than that.
        busiest = int(np.argmax(np.diff(rows)))
        for _ in range(20):
            since = np.array([max(0, busiest - lasts)])
            lasts = max(
                self._first,
                int(self._batches.from_step(busiest, since, self._job.sizes[-1:]).lasts[0]),
            )
        return lasts

    def _age_at_end(self, fixed: Path | None) -> int:
        """Return the age of the backlog at the last batch of a run at a fixed size, in steps; the
        run may end with uncommitted rows.
        """
        if fixed is None or len(fixed.start_s) < 2:
            return 0
        last = round(float(fixed.start_s[-1]) / self._curve.step_s)
        taken = float(fixed.rows[:-1].sum()) - 1e-6
        return last - int(np.searchsorted(self._curve.rows, taken, side="left"))
