"""A micro-batch of a simulated query, from its begin to its commit."""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.sim.spark.spark_batch import StageRun


@dataclass(slots=True)
class SimulatedBatch:
    """One micro-batch: rows ``first_row`` to ``end_row``, from ``begin_s`` to ``end_s``."""

    begin_s: float
    end_s: float
    first_row: float
    end_row: float
    fixed_s: float
    stages: list[StageRun]

    @property
    def rows(self) -> float:
        """Its rows."""
        return self.end_row - self.first_row

    @property
    def batch_s(self) -> float:
        """Its duration."""
        return self.end_s - self.begin_s

    @property
    def task_s(self) -> float:
        """Slot-seconds in its tasks."""
        return sum(sum(stage.task_s) for stage in self.stages)
