"""Records what happens to a plant, and computes the ledger at the end."""

from __future__ import annotations

import numpy as np

from rheostat.sim.arrivals import Arrivals
from rheostat.sim.plant import Floats, Ledger, Steps


class Book:
    """Records commits of batches, sizes and downtime at non-decreasing times from 0 s."""

    def __init__(self, arrivals: Arrivals, executors: int) -> None:
        self._arrivals = arrivals
        self._commits = [(0.0, 0.0)]
        self._registered = [(0.0, float(executors))]
        self._paid = [(0.0, float(executors))]
        self._targets = [(0.0, float(executors))]
        self.downtime_s = 0.0
        self.executors_started = 0

    def committed(self, t_s: float, total_rows: float) -> None:
        """Record that ``total_rows`` since the start are committed at ``t_s``."""
        self._commits.append((t_s, total_rows))

    def registered(self, t_s: float, executors: int) -> None:
        """Record the number of registered executors."""
        _note(self._registered, t_s, executors)

    def paid(self, t_s: float, executors: int) -> None:
        """Record the number of paid executors: requested, starting, working or draining."""
        _note(self._paid, t_s, executors)

    def target(self, t_s: float, executors: int) -> None:
        """Record the target."""
        _note(self._targets, t_s, executors)

    def ledger(self, end_s: float) -> Ledger:
        """Return the ledger of everything recorded, up to ``end_s``."""
        commit_t, commit_rows = np.array(self._commits).T
        arrival_t, arrival_rows = self._arrivals.curve(end_s)
        done, arrived = float(commit_rows[-1]), float(arrival_rows[-1])
        middle, rows = _pieces(arrival_rows, commit_rows)
        came_s = np.interp(middle, arrival_rows, arrival_t)
        went_s = commit_t[
            # The first commit that reaches a row commits it; the others are removed below.
            np.minimum(np.searchsorted(commit_rows, middle, side="left"), len(commit_t) - 1)
        ]
        # Use the middle of a piece: pieces end at every commit, so none is committed partly.
        gone = middle < done
        lag_t = np.unique(np.concatenate((arrival_t, commit_t)))
        committed_then = Steps(commit_t, commit_rows).at(lag_t)
        return Ledger(
            end_s=end_s,
            arrived_rows=arrived,
            committed_rows=done,
            latency_s=np.maximum(0.0, went_s - came_s)[gone],
            rows=rows[gone],
            commit_s=went_s[gone],
            left_age_s=(end_s - came_s)[~gone],
            left_rows=rows[~gone],
            lag_t_s=lag_t,
            lag_rows=np.interp(lag_t, arrival_t, arrival_rows) - committed_then,
            registered=_steps(self._registered),
            paid=_steps(self._paid),
            targets=_steps(self._targets),
            executors_started=self.executors_started,
            downtime_s=self.downtime_s,
        )


def _pieces(arrival_rows: Floats, commit_rows: Floats) -> tuple[Floats, Floats]:
    """Cut the rows at every knot of both curves; return each piece's middle row and row count."""
    # A commit may exceed the arrivals by rounding; such a piece would have no arrival time.
    edges = np.unique(np.concatenate((arrival_rows, np.minimum(commit_rows, arrival_rows[-1]))))
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def _note(steps: list[tuple[float, float]], t_s: float, value: int) -> None:
    # Record only changes: most events of a plant change nothing.
    if steps[-1][1] != value:
        steps.append((t_s, float(value)))


def _steps(noted: list[tuple[float, float]]) -> Steps:
    times, values = np.array(noted).T
    return Steps(times, values)
