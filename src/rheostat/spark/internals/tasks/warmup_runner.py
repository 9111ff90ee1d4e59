"""Warms a new executor by rerunning tasks of a query's last batch without effect."""

from __future__ import annotations

import re
from typing import Any

from rheostat.spark.internals.executors.executors import Executors
from rheostat.spark.internals.gateway import ABSENT, Gateway
from rheostat.spark.internals.queries import plans
from rheostat.spark.internals.tasks.placed_tasks import PlacedTasks

_PYTHON_OPERATORS = re.compile(r"Python|Pandas|InArrow|ArrowEval")
READS = "rheostat warms up a source"
COMPUTES = "rheostat warms up state"
"""The names of these jobs in Spark's UI and event log."""

_ROWS = 500_000
"""A batch with more rows is not reread for a warm-up."""

_PARTITIONS = 2
"""The number of tasks per stage that are rerun: the first loads most classes, the second
the rest."""


class WarmupRunner:
    """Runs the work of a batch on an executor, between two batches.

    Call it in a pause: the plan of a running batch counts rows, and would count them twice.

    * Calls: those of ``plans`` and ``PlacedTasks``, ``StreamingQuery.explainInternal``.
    * Without them: the call raises, and the first tasks of the executor are slow.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, tasks: PlacedTasks, executors: Executors) -> None:
        self._jvm = gateway.jvm
        self._tasks = tasks
        self._executors = executors

    def uses_python(self, query: Any) -> bool:
        """Return whether a query's tasks need Python workers, from its plan; False if unknown."""
        try:
            return bool(_PYTHON_OPERATORS.search(str(query._jsq.explainInternal(False))))
        except ABSENT:
            return False

    def read_again(self, query: Any, executor: str, host: str, group: str) -> bool:
        """Rerun source tasks of the last batch on an executor and drop their rows.

        False for unknown operators or large batches. Raises the job's errors.
        """
        parts = plans.reading_parts(plans.last_plan(query))
        if not (parts and self._may_run(query, parts)):
            return False
        self._tasks.call(group, READS)
        for part in parts:
            self._tasks.run(part, executor, host, range(_PARTITIONS))
        # Also a small shuffle: the first block that an executor writes and reads is slow.
        self._tasks.rows_on(executor, host).repartition(1).count()
        return True

    def compute_again(self, query: Any, executor: str, host: str, group: str) -> bool:
        """Load one state partition on an executor and recompute the last batch without writing.

        The executor's number selects the partition. Requires a plan whose state is all
        aggregations, and a partition for every executor; otherwise as ``read_again``.
        """
        parts = plans.below(plans.last_plan(query), plans.SAVING)
        operators = query._jsq.lastProgress().stateOperators()
        only_aggregations = 0 < len(parts) == len(operators)
        if not (only_aggregations and self._is_enough(operators) and self._may_run(query, parts)):
            return False
        # Executors with consecutive numbers start together, and load different partitions.
        number = int(executor) if executor.isdecimal() else 0
        self._tasks.call(group, COMPUTES)
        for part in parts:
            self._tasks.run(part, executor, host, (number,))
        return True

    def _may_run(self, query: Any, parts: list[Any]) -> bool:
        rows = int(query._jsq.lastProgress().numInputRows())
        return rows <= _ROWS and all(plans.is_harmless(part, self._jvm) for part in parts)

    def _is_enough(self, operators: Any) -> bool:
        """Return whether every operator has a partition for each executor."""
        fewest = self._executors.registered()
        return all(int(operator.numShufflePartitions()) >= fewest for operator in operators)
