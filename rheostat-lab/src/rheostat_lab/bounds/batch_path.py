"""A sequence of batches with its sizes, and whether it keeps the objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rheostat.sim.plant import Floats
from rheostat_lab.bounds.batch_grid import Steps

# The objective from its other side: 99 % of all rows in time, 90 % in every five minutes.
LATE_SHARE = 0.01
WINDOW_S, WINDOW_SHARE = 300.0, 0.10


@dataclass(frozen=True, slots=True)
class Path:
    """A sequence of batches: when each starts (seconds), its size, its rows and how many of them
    are late.
    """

    start_s: Floats
    executors: Floats
    rows: Floats
    late: Floats
    cost: float
    """Slot-seconds and the price of the rescalings."""

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
        """Late rows over all rows."""
        return float(self.late.sum() / max(self.rows.sum(), 1e-12))

    def attains(self) -> bool:
        """Tell whether 99 % of the rows are in time over the run and 90 % in every five minutes."""
        return self.late_share <= LATE_SHARE + 1e-12 and not len(self.missed())

    def missed(self) -> Steps:
        """Return the windows of five minutes, by number, in which 90 % are not in time."""
        window = (self.start_s // WINDOW_S).astype(np.int64)
        rows, late = np.bincount(window, self.rows), np.bincount(window, self.late)
        return np.flatnonzero(late > WINDOW_SHARE * rows + 1e-9)
