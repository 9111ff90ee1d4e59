"""How fast a simulated Spark job can be: scalability of its slots, and batch times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rheostat.capacity.batch import BatchModel
from rheostat.sim.plant import Floats


@dataclass(frozen=True, slots=True)
class Usl:
    """C(n) = n / (1 + sigma (n - 1) + kappa n (n - 1)): the throughput of n slots over that of one.

    ``sigma`` is the serial share of the work (contention), ``kappa`` the cost of keeping each pair
    of slots consistent (coherency); with 0 and 0 the throughput is linear. With ``kappa`` above 0
    the throughput falls beyond some number of slots.

    Source: Gunther, "A General Theory of Computational Scalability Based on Rational Functions"
    (arXiv 0808.1431), eq. 4.
    """

    sigma: float = 0.0
    kappa: float = 0.0

    def slowdown(self, slots: float) -> float:
        """Return the run time on one of ``slots`` slots over that on a single slot: n / C(n)."""
        more = max(0.0, slots - 1)
        return 1 + self.sigma * more + self.kappa * slots * more


def batch_time(
    model: BatchModel, slots_per_executor: int = 1
) -> Callable[[Floats, Floats], Floats]:
    """Return ``model.batch_s`` for arrays of rows and of executors."""

    def takes_s(rows: Floats, executors: Floats) -> Floats:
        slots = executors * slots_per_executor
        # A table, because callers evaluate the same few sizes a million times.
        slowdowns = [model.curve.slowdown(count) for count in range(int(slots.max()) + 1)]
        slowdown = np.array(slowdowns)[slots.astype(np.int64)]
        total: Floats = np.full(np.broadcast_shapes(rows.shape, slots.shape), model.fixed_s)
        for stage in model.stages:
            task_rows_s = rows * (stage.rows_in * stage.row_s / stage.tasks) * slowdown
            waves = np.ceil(stage.tasks / slots)
            total = total + np.maximum(
                waves * (stage.task_s + task_rows_s), stage.task_s + stage.skew * task_rows_s
            )
        return total

    return takes_s
