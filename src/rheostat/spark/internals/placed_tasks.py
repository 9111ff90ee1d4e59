"""Rheostat's own tasks on chosen executors, also to warm them up, and the locality waits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from py4j.protocol import Py4JError

from rheostat.spark.internals import plans
from rheostat.spark.internals.executors import Executors
from rheostat.spark.internals.gateway import ABSENT, Gateway
from rheostat.spark.sensing.capabilities import slots_per_executor

HOLDS = "rheostat holds an executor"
STARTS_PYTHON = "rheostat starts Python"
"""The names of these jobs in Spark's UI and event log."""

_PYTHON_OPERATORS = re.compile(r"Python|Pandas|InArrow|ArrowEval")
READS = "rheostat warms up a source"

COMPUTES = "rheostat warms up state"
"""The names of these jobs in Spark's UI and event log."""

_ROWS = 500_000
"""A batch with more rows is not reread for a warm-up."""

_PARTITIONS = 2
"""The tasks per stage that are rerun: the first loads most classes, the second the rest."""

_WAIT = "spark.locality.wait"
_PROCESS_WAIT = "spark.locality.wait.process"


class PlacedTasks:
    """Runs tasks that prefer an executor.

    * Calls: ``SparkContext.makeRDD`` with preferences, ``SparkPlan.execute``,
      ``JavaRDD.collectPartitions``, SQL's ``java_method``, ``AppStatusStore.executorSummary``.
    * Without them: the call raises, and the executor is not warmed; tasks count as 0.
    * Spark 3.5 to 4.3; ``run`` and ``hold`` on 4.3.0.

    Fails when the executor is busy for longer than ``spark.locality.wait``: another one then runs
    the tasks.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._spark = gateway.spark
        self._context = gateway.context

    def call(self, group: str, job: str) -> None:
        """Name the next jobs of this thread for Spark's UI and its event log."""
        # A job group belongs to its thread, so the jobs of the user's query keep theirs.
        self._context.setJobGroup(group, job, interruptOnCancel=False)

    def hold(self, executor: str, host: str, for_s: float, group: str) -> int:
        """Run sleeping tasks on all slots of an executor, wait, and return their number."""
        slots = slots_per_executor(self._spark)
        sleep = f"java_method('java.lang.Thread', 'sleep', {round(for_s * 1000)}L)"
        sleeping = self._spark.range(0, slots, 1, slots).selectExpr(sleep)
        self.call(group, HOLDS)
        self.run(sleeping._jdf.queryExecution().executedPlan(), executor, host, range(slots))
        return slots

    def run_python_on(
        self,
        executor: str,
        host: str,
        work: Callable[[], None],
        group: str,
        job: str = STARTS_PYTHON,
    ) -> None:
        """Run a Python function in one task that prefers an executor, and wait for its end."""
        from pyspark import RDD  # absent in a Spark Connect client
        from pyspark.serializers import UTF8Deserializer

        self.call(group, job)
        RDD(self.rows_on(executor, host), self._context, UTF8Deserializer()).foreach(
            lambda _: work()
        )

    def tasks_done(self, executor: str) -> int:
        """Return an executor's number of completed tasks (``executorSummary``); 0 if unknown."""
        try:
            return int(
                self._gateway.scala_context.statusStore().executorSummary(executor).completedTasks()
            )
        except Py4JError:
            return 0

    def run(self, plan: Any, executor: str, host: str, numbers: Iterable[int]) -> None:
        """Run tasks of a plan on an executor and drop their results; task numbers wrap around."""
        # One array per partition, because zip requires equal numbers of rows.
        rows = plan.execute().toJavaRDD().glom()
        tasks = rows.getNumPartitions()
        chosen = self._gateway.array(self._jvm.int, sorted({number % tasks for number in numbers}))
        # Zipped, the plan's tasks inherit the preferred location of these rows.
        self.rows_on(executor, host, tasks).zip(rows).keys().collectPartitions(chosen)

    def rows_on(self, executor: str, host: str, partitions: int = 1) -> Any:
        """Return an RDD with one row per partition whose tasks prefer an executor."""
        place = f"executor_{host}_{executor}"
        return self.rows_at([(bytearray(b"warm-up"), [place])] * partitions, "[B")

    def rows_at(self, rows: Iterable[tuple[Any, Sequence[str]]], class_name: str) -> Any:
        """Return an RDD of Java rows, each a partition with preferred locations (``makeRDD``)."""
        pairs = [self._jvm.scala.Tuple2(row, self._gateway.sequence(at)) for row, at in rows]
        tag = self._jvm.scala.reflect.ClassTag.apply(self._gateway.class_named(class_name))
        return self._gateway.scala_context.makeRDD(self._gateway.sequence(pairs), tag).toJavaRDD()


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
        fewest = self._executors.registered()
        is_enough = all(int(operator.numShufflePartitions()) >= fewest for operator in operators)
        if not (only_aggregations and is_enough and self._may_run(query, parts)):
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


class LocalityWaits:
    """The waits in force; None restores the application's settings.

    * Calls: ``SparkContext.conf``, which ``TaskSetManager`` reads for each stage.
    * Without it: the application's waits remain; probed by the call itself.
    * Spark 3.5.7 and 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        settings = gateway.context.getConf()
        self._own = str(settings.get(_WAIT, "3s"))
        self._own_process = str(settings.get(_PROCESS_WAIT, self._own))

    def set_wait(self, wait: str | None) -> bool:
        """Set how long later tasks wait for a preferred executor; False if impossible."""
        return self._set(_WAIT, wait or self._own)

    def set_process_wait(self, wait: str | None) -> bool:
        """Set how long tasks wait for their exact executor; False if impossible."""
        return self._set(_PROCESS_WAIT, wait or self._own_process)

    def _set(self, name: str, value: str) -> bool:
        try:
            self._gateway.scala_context.conf().set(name, value)
        except ABSENT:
            return False
        return True
