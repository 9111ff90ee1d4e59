"""The rehearsal of a new executor: tasks of a query's last batch, run again for nothing."""

from __future__ import annotations

import re
from typing import Any

from rheostat.spark.internals.executors.executors import Executors
from rheostat.spark.internals.gateway import ABSENT, Gateway
from rheostat.spark.internals.queries import plans
from rheostat.spark.internals.tasks.placed_tasks import PlacedTasks

_PYTHON_OPERATORS = re.compile(r"Python|Pandas|InArrow|ArrowEval")
READS = "rheostat rehearses a source"
COMPUTES = "rheostat rehearses state"
"""What Spark's UI, and its event log, call these jobs."""

_ROWS = 500_000
"""A batch with more is not read again for nothing."""

_PARTITIONS = 2
"""So many tasks of a stage are rehearsed: the first loads the classes, the next finds what the
first has left undone."""


class WarmupRunner:
    """Lets an executor do what a batch will ask of it, between two batches.

    The plan of a running batch counts rows, and must not count them twice: to be called in a pause.

    * Calls: those of ``plans`` and ``PlacedTasks``, ``StreamingQuery.explainInternal``.
    * Without them: what is called raises, and the first tasks of the executor are slow.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, tasks: PlacedTasks, executors: Executors) -> None:
        self._jvm = gateway.jvm
        self._tasks = tasks
        self._executors = executors

    def uses_python(self, query: Any) -> bool:
        """Tell from a query's plan whether its tasks need Python workers; False if unknown."""
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
        # A small shuffle as well: the first block that an executor writes and reads is slow, too.
        self._tasks.rows_on(executor, host).repartition(1).count()
        return True

    def compute_again(self, query: Any, executor: str, host: str, group: str) -> bool:
        """Load one state partition on an executor and recompute the last batch without writing.

        The executor's number picks the partition. Only for plans whose state is all aggregations,
        and where every executor has partitions; otherwise as ``read_again``.
        """
        parts = plans.below(plans.last_plan(query), plans.SAVING)
        operators = query._jsq.lastProgress().stateOperators()
        only_aggregations = 0 < len(parts) == len(operators)
        if not (only_aggregations and self._is_enough(operators) and self._may_run(query, parts)):
            return False
        # Neighbours in number come together, so they load different partitions.
        number = int(executor) if executor.isdecimal() else 0
        self._tasks.call(group, COMPUTES)
        for part in parts:
            self._tasks.run(part, executor, host, (number,))
        return True

    def _may_run(self, query: Any, parts: list[Any]) -> bool:
        rows = int(query._jsq.lastProgress().numInputRows())
        return rows <= _ROWS and all(plans.is_harmless(part, self._jvm) for part in parts)

    def _is_enough(self, operators: Any) -> bool:
        """Tell whether every operator has a partition for each executor."""
        fewest = self._executors.registered()
        return all(int(operator.numShufflePartitions()) >= fewest for operator in operators)
