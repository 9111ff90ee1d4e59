"""A sequence of batches with their sizes, and whether it meets the objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rheostat.sim.plant import Floats
from rheostat_lab.bounds.batch_grid import Steps

# Late shares that the objective allows: 99 % of all rows in time, 90 % in every five minutes.
LATE_SHARE = 0.01
WINDOW_S, WINDOW_SHARE = 300.0, 0.10


@dataclass(frozen=True, slots=True)
class Path:
    """A sequence of batches: the start in seconds, size, rows and late rows of each."""

    start_s: Floats
    executors: Floats
    rows: Floats
    late: Floats
    cost: float
    """Slot-seconds plus the price of the rescalings."""

    rescalings: int

    @classmethod
    def of(
        cls, batches: Sequence[tuple[float, float, float, float]], cost: float, rescalings: int
    ) -> Path:
        """Return the path of batches of (start, size, rows, late rows)."""
        start_s, executors, rows, late = np.array(batches).T
        return cls(start_s, executors, rows, late, cost, rescalings)

    @property
    def late_share(self) -> float:
        """Late rows as a share of all rows."""
        return float(self.late.sum() / max(self.rows.sum(), 1e-12))

    def attains(self) -> bool:
        """Return whether 99 % of all rows are in time, and 90 % in every five minutes."""
        return self.late_share <= LATE_SHARE + 1e-12 and not len(self.missed())

    def missed(self) -> Steps:
        """Return the numbers of the five-minute windows with less than 90 % of the rows in time."""
        window = (self.start_s // WINDOW_S).astype(np.int64)
        rows, late = np.bincount(window, self.rows), np.bincount(window, self.late)
        return np.flatnonzero(late > WINDOW_SHARE * rows + 1e-9)
