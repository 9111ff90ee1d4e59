"""Every call into Spark's internals; nothing else in Rheostat makes one.

Each call is probed by its name before it is offered, and each has a fallback: ``docs/blast-radius.md`` lists
them with their versions and the worst that can happen. PySpark 3.5 to 4.3, classic sessions only (Spark Connect has no
JVM to call).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JError

_REASON = "rheostat scales in"


class Jvm:
    """The JVM behind a classic PySpark session."""

    def __init__(self, spark: Any) -> None:
        self._context = spark.sparkContext
        self._jvm = self._context._jvm
        self._scala_context = self._context._jsc.sc()
        self._backend = self._scala_context.schedulerBackend()
        self._locality_wait = str(self._context.getConf().get("spark.locality.wait", "3s"))
        backend = set(dir(self._backend))
        self.can_request = {"requestTotalExecutors", "getExecutorIds"} <= set(dir(self._scala_context)) and "killExecutors" in backend
        self.can_decommission = "decommissionExecutors" in backend

    def stopped(self) -> bool:
        """Tell whether the application has ended."""
        try:
            return self._context._jsc is None or bool(self._scala_context.isStopped())
        except (Py4JError, OSError):  # the JVM itself has gone
            return True

    def executor_ids(self) -> list[str]:
        """Return the registered executors, oldest first (``SparkContext.getExecutorIds``)."""
        ids = self._scala_context.getExecutorIds()
        return sorted((str(ids.apply(i)) for i in range(ids.size())), key=lambda name: (len(name), name))

    def request_total(self, executors: int) -> bool:
        """Ask for a total of executors; fewer than there are ends none (``SparkContext.requestTotalExecutors``)."""
        nothing = self._jvm.PythonUtils.toScalaMap(self._jvm.java.util.HashMap())
        return bool(self._scala_context.requestTotalExecutors(executors, 0, nothing))

    def hide(self, executors: Sequence[str]) -> bool:
        """Take executors out of the block managers that the Kafka source prefers (``BlockManagerMaster.decommissionBlockManagers``).

        Without it a batch that is planned while an executor leaves waits ``spark.locality.wait`` for it. False where
        this Spark has no such call: that batch is then late, nothing else.
        """
        try:
            self._block_managers().decommissionBlockManagers(self._sequence(executors))
        except (Py4JError, TypeError):
            return False
        return True

    def decommission(self, executors: Sequence[str]) -> None:
        """Let executors end their running tasks and leave (``CoarseGrainedSchedulerBackend.decommissionExecutors``)."""
        information = self._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo(_REASON, self._jvm.scala.Option.empty())
        pairs = self._context._gateway.new_array(self._jvm.scala.Tuple2, len(executors))
        for i, executor in enumerate(executors):
            pairs[i] = self._jvm.scala.Tuple2(executor, information)
        self._backend.decommissionExecutors(pairs, False, False)

    def kill_idle(self, executors: Sequence[str]) -> None:
        """End those of the executors that run no task at this moment (``CoarseGrainedSchedulerBackend.killExecutors``, not forced)."""
        self._backend.killExecutors(self._sequence(executors), False, False, False)

    def set_locality_wait(self, wait: str | None) -> bool:
        """Set how long tasks of later stages wait for a preferred executor; None restores the application's own setting.

        ``TaskSetManager`` reads ``spark.locality.wait`` for each stage from the live ``SparkContext.conf``. False where
        that cannot be written: nothing changes then.
        """
        wait = wait or self._locality_wait
        try:
            self._scala_context.conf().set("spark.locality.wait", wait)
        except (Py4JError, TypeError):
            return False
        return True

    def trigger_s(self, query: Any) -> float | None:
        """Return the trigger interval of a query, 0 for batches back to back (``StreamExecution.trigger``); None if it cannot be told."""
        try:
            trigger = query._jsq.streamingQuery().trigger()
            return float(trigger.intervalMs()) / 1000 if "ProcessingTime" in trigger.toString() else None
        except (Py4JError, AttributeError):
            return None

    def thread_cpu_s(self) -> float | None:
        """Return the CPU seconds of the JVM thread that serves the calling Python thread (``ThreadMXBean``)."""
        try:
            return float(self._jvm.java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()) / 1e9
        except Py4JError:
            return None

    def process_id(self) -> int:
        """Return the process id of the driver's JVM."""
        return int(self._jvm.java.lang.ProcessHandle.current().pid())

    def _block_managers(self) -> Any:
        """Return the BlockManagerMaster, by method handles.

        Plain reflection looks at all methods, and Spark 4.3's SparkEnv has one with a class that is on no class path.
        """
        java = self._jvm.java.lang
        load, lookup = java.Class.forName, java.invoke.MethodHandles.publicLookup()
        method_type, nothing = java.invoke.MethodType.methodType, self._jvm.java.util.ArrayList()
        environment = load("org.apache.spark.SparkEnv")
        current = lookup.findStatic(environment, "get", method_type(environment)).invokeWithArguments(nothing)
        nothing.add(current)
        manager = method_type(load("org.apache.spark.storage.BlockManager"))
        return lookup.findVirtual(environment, "blockManager", manager).invokeWithArguments(nothing).master()

    def _sequence(self, items: Sequence[str]) -> Any:
        listed = self._jvm.java.util.ArrayList()
        for item in items:
            listed.add(item)
        return self._jvm.PythonUtils.toSeq(listed)
