"""Simulation of the next micro-batches: which rows will be late at given rates and sizes."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Path = Sequence[tuple[float, float]]
"""Pairs of (seconds from now, rows/s), the first at 0 s, with straight lines in between."""
Size = tuple[float, Callable[[float], float], float]
"""(Seconds from now, batch duration in seconds by rows, extra seconds of its first batch)."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """The rows that no batch has read, and the running batch; times are seconds from now.

    The ``rows`` arrived since ``since_s`` (at most 0), and the next batch can begin at
    ``begins_s``. The running batch ends at ``ends_s``; the oldest of its ``running_rows`` arrived
    at ``oldest_s``, the newest at ``since_s``.
    """

    rows: float
    since_s: float
    begins_s: float
    ends_s: float = 0.0
    running_rows: float = 0.0
    oldest_s: float = 0.0


class Arrivals:
    """Cumulative arrivals from the oldest row of the backlog: evenly until now, then on a path."""

    def __init__(self, backlog: Backlog, path: Path) -> None:
        self.backlog = backlog
        self._since_s, self._waiting = min(backlog.since_s, -1e-9), backlog.rows
        self._t_s = [t_s for t_s, _ in path]
        self._rates = [rate for _, rate in path]
        self._rows = [backlog.rows]
        for i in range(1, len(path)):
            lasts_s = self._t_s[i] - self._t_s[i - 1]
            mean = (self._rates[i] + self._rates[i - 1]) / 2
            self._rows.append(self._rows[-1] + lasts_s * mean)

    def by(self, t_s: float) -> float:
        """Return the rows that arrive until ``t_s`` seconds from now, with those of the backlog."""
        if t_s <= 0:
            return self._waiting * max(0.0, 1 - t_s / self._since_s)
        i = bisect_right(self._t_s, t_s) - 1
        into_s, rate = t_s - self._t_s[i], self._rates[i]
        if i + 1 < len(self._t_s):
            rises = (self._rates[i + 1] - rate) / (self._t_s[i + 1] - self._t_s[i])
            rate += rises * into_s / 2
        return self._rows[i] + rate * into_s


@dataclass(frozen=True, slots=True)
class RolloutResult:
    """Late rows and all rows of a rollout, and when the first row exceeds the objective."""

    late_rows: float
    rows: float
    violation_s: float
    """Seconds from now; infinite if no row is late."""

    waiting_rows: float = 0.0
    """Rows that no batch has processed at the end."""

    @property
    def late_share(self) -> float:
        """Late rows over all rows."""
        return self.late_rows / self.rows if self.rows > 0 else 0.0


def rollout(
    arrivals: Arrivals,
    sizes: Sequence[Size],
    *,
    trigger_s: float,
    slo_s: float,
    until_s: float,
) -> RolloutResult:
    """Return the result of the batches that begin within ``until_s`` seconds; the first of
    ``sizes`` is the present one.

    A batch reads the complete backlog. The next one begins at the next trigger, or at once if the
    batch lasted longer. With a short trigger interval several batches are simulated as one.
    """
    backlog = arrivals.backlog
    begins_s, since_s, taken, place = backlog.begins_s, backlog.since_s, 0.0, 0
    rows, ends_s = 0.0, since_s
    late, first_s = _of_running(backlog, slo_s)
    shortest_s = max(trigger_s, until_s / 120)  # at most 120 batches, whatever the interval
    while begins_s < until_s:
        longer_s = 0.0
        while place + 1 < len(sizes) and sizes[place + 1][0] <= begins_s:
            place += 1
            longer_s = sizes[place][2]
        came = arrivals.by(begins_s)
        rows = came - taken
        ends_s = begins_s + sizes[place][1](rows) + longer_s
        if ends_s - since_s > slo_s:
            late += arrivals.by(min(begins_s, ends_s - slo_s)) - taken
            first_s = min(first_s, since_s + slo_s)
        since_s, taken = begins_s, came
        begins_s = max(ends_s, begins_s + shortest_s)
    left_s = min(until_s, begins_s - slo_s)
    if left_s > since_s:  # no simulated batch reads these rows, which are too old already
        late += arrivals.by(left_s) - taken
        first_s = min(first_s, since_s + slo_s)
    came = arrivals.by(until_s)
    # the part of the last batch that is not processed by then
    left = rows * max(0.0, ends_s - until_s) / max(ends_s - since_s, 1e-9)
    return RolloutResult(late, came + backlog.running_rows, first_s, came - taken + left)


def _of_running(backlog: Backlog, slo_s: float) -> tuple[float, float]:
    """Return the late rows of the running batch, and when the first of them becomes late."""
    worst_s = backlog.ends_s - backlog.oldest_s
    if worst_s <= slo_s or not backlog.running_rows:
        return 0.0, math.inf
    spread_s = max(1e-9, backlog.since_s - backlog.oldest_s)
    late = backlog.running_rows * min(1.0, (worst_s - slo_s) / spread_s)
    return late, max(0.0, backlog.oldest_s + slo_s)
