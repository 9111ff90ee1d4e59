"""Runs Rheostat's own tasks on chosen executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from py4j.protocol import Py4JError

from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.sensing.capabilities.capabilities import slots_per_executor

HOLDS = "rheostat holds an executor"
STARTS_PYTHON = "rheostat starts Python"
"""The names of these jobs in Spark's UI and event log."""


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
