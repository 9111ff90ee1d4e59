"""Every call into Spark's internals; nothing else in Rheostat makes one.

Each call is probed by its name before it is offered, and each has a fallback: ``docs/blast-
radius.md`` lists them with their versions and the worst that can happen. PySpark 3.5 to 4.3,
classic sessions only (Spark Connect has no JVM to call).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JError

from rheostat.signals.rhythm import BatchTime
from rheostat.spark.sensing.capabilities import slots_per_executor
from rheostat.spark.sensing.state_stores import JOIN_STORES

_PYTHON_OPERATORS = re.compile(r"Python|Pandas|InArrow|ArrowEval")
_REASON = "rheostat scales in"
HOLDS = "rheostat holds an executor"
READS = "rheostat rehearses a source"
COMPUTES = "rheostat rehearses state"
LOADS = "rheostat loads state"
STARTS_PYTHON = "rheostat starts Python"
"""What Spark's UI, and its event log, call our jobs."""

_BLOCK_MANAGER = re.compile(r"BlockManagerId\(([^,]+), ([^,]+), \d+")
_DRIVER = "driver"
_READING = frozenset(
    {
        "MicroBatchScan",
        "Project",
        "Filter",
        "EventTimeWatermark",
        "Sort",
        "SortAggregate",
        "HashAggregate",
        "ObjectHashAggregate",
        "MergingSessions",
        "Expand",
        "Union",
        "ColumnarToRow",
        "WholeStageCodegen",
        "InputAdapter",
    }
)
"""Operators that may be run again for nothing: Spark's own, without a function of the user's and
without an effect."""

_RESTORING = frozenset({"StateStoreRestore", "SessionWindowStateStoreRestore"})
"""Operators that read state and do not write it."""

_JOIN = "StreamingSymmetricHashJoin"
_JOINS = "org.apache.spark.sql.execution.streaming.operators.stateful.join"
_OPENING = _RESTORING | {
    _JOIN,
    "StreamingDeduplicate",
    "StreamingDeduplicateWithinWatermark",
    "FlatMapGroupsWithState",
    "FlatMapGroupsInPandasWithState",
    "TransformWithState",
    "TransformWithStateInPySpark",
}
"""Operators whose stores can be opened before their batch; an aggregation has one to read and one
to save, of the same store."""

_SAVING = frozenset({"StateStoreSave", "SessionWindowStateStoreSave"})
"""Operators that write what those below them have read and computed."""

_REHEARSED_ROWS = 500_000
"""A batch with more is not read again for nothing."""

_REHEARSED_PARTITIONS = 2
"""So many tasks of a stage are rehearsed: the first loads the classes, the next finds what the
first has left undone."""


class _Stores(NamedTuple):
    """The stores of a partition of an operator: their names, and key schema, value schema and key
    encoder of each; the rest is common.
    """

    names: tuple[str, ...]
    described: tuple[tuple[Any, Any, Any], ...]
    schemas: Any
    families: bool
    multiple: bool
    settings: Any


class Jvm:
    """The JVM behind a classic PySpark session."""

    def __init__(self, spark: Any) -> None:
        self._context = spark.sparkContext
        self._spark = spark
        self._jvm = self._context._jvm
        self._scala_context = self._context._jsc.sc()
        self._backend = self._scala_context.schedulerBackend()
        self._locality_wait = str(self._context.getConf().get("spark.locality.wait", "3s"))
        self._process_wait = str(
            self._context.getConf().get("spark.locality.wait.process", self._locality_wait)
        )
        backend = set(dir(self._backend))
        self.can_request = {"requestTotalExecutors", "getExecutorIds"} <= set(
            dir(self._scala_context)
        ) and "killExecutors" in backend
        self.can_decommission = "decommissionExecutors" in backend
        self._coordinator = self._find_coordinator()
        self._nothing = self._sequence(())

    def stopped(self) -> bool:
        """Tell whether the application has ended."""
        try:
            return self._context._jsc is None or bool(self._scala_context.isStopped())
        except (Py4JError, OSError):  # the JVM itself has gone
            return True

    def executor_ids(self) -> list[str]:
        """Return the registered executors, oldest first (``SparkContext.getExecutorIds``)."""
        ids = self._scala_context.getExecutorIds()
        return sorted((str(ids.apply(i)) for i in range(ids.size())), key=_age)

    def registered(self) -> int:
        """Return the number of registered executors (``SparkContext.getExecutorIds``), in one
        call.
        """
        return int(self._scala_context.getExecutorIds().size())

    def hosts(self) -> dict[str, str]:
        """Return the host of every executor that can be reached
        (``BlockManagerMaster.getMemoryStatus``), oldest first.

        An executor is here once it can take blocks, and no longer from the moment its connection
        breaks; ``executor_ids`` keeps it for the five seconds of
        ``spark.standalone.executorRemoveDelayOnDisconnection``. Where this Spark has no such call,
        the hosts are empty.
        """
        try:
            return self._reachable()
        except (Py4JError, TypeError):
            return dict.fromkeys(self.executor_ids(), "")

    def preferred(self) -> list[str]:
        """Return the executors that the Kafka source may prefer: those that are not hidden
        (``BlockManagerMaster.getPeers``).
        """
        try:
            peers = self._block_manager.master().getPeers(self._driver_id).toString()
        except (Py4JError, TypeError):
            return []
        return list(hosts_in(peers))

    def request_total(self, executors: int) -> bool:
        """Ask for a total of executors; fewer than there are ends none
        (``SparkContext.requestTotalExecutors``).
        """
        nothing = self._jvm.PythonUtils.toScalaMap(self._jvm.java.util.HashMap())
        return bool(self._scala_context.requestTotalExecutors(executors, 0, nothing))

    def hide(self, executors: Sequence[str]) -> bool:
        """Take executors out of the block managers that the Kafka source prefers
        (``BlockManagerMaster.decommissionBlockManagers``).

        Without it a batch that is planned while an executor leaves waits ``spark.locality.wait``
        for it. False where this Spark has no such call: that batch is then late, nothing else.
        """
        try:
            self._block_manager.master().decommissionBlockManagers(self._sequence(executors))
        except (Py4JError, TypeError):
            return False
        return True

    def hide_newcomers(self, hides: bool) -> bool:
        """Hide each executor in the moment in which its block manager registers
        (``SparkContext.addSparkListener``), or no longer.

        False where this Spark has no such calls: a batch that is planned right then may wait
        ``spark.locality.wait`` for it.
        """
        try:
            change = (
                self._scala_context.addSparkListener
                if hides
                else self._scala_context.removeSparkListener
            )
            change(self._hiding)
        except (Py4JError, TypeError):
            return False
        return True

    def decommission(self, executors: Sequence[str]) -> None:
        """Let executors end their running tasks and leave
        (``CoarseGrainedSchedulerBackend.decommissionExecutors``).
        """
        information = self._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo(
            _REASON, self._jvm.scala.Option.empty()
        )
        pairs = self._context._gateway.new_array(self._jvm.scala.Tuple2, len(executors))
        for i, executor in enumerate(executors):
            pairs[i] = self._jvm.scala.Tuple2(executor, information)
        self._backend.decommissionExecutors(pairs, False, False)

    def kill_idle(self, executors: Sequence[str]) -> None:
        """End those of the executors that run no task at this moment
        (``CoarseGrainedSchedulerBackend.killExecutors``, not forced).
        """
        self._backend.killExecutors(self._sequence(executors), False, False, False)

    def kill(self, executors: Sequence[str]) -> None:
        """End executors that were asked to leave and did not; their tasks are run again elsewhere
        (``killExecutors``, forced).
        """
        self._backend.killExecutors(self._sequence(executors), False, False, True)

    def set_locality_wait(self, wait: str | None) -> bool:
        """Set how long tasks of later stages wait for a preferred executor; None restores the
        application's own setting.

        ``TaskSetManager`` reads ``spark.locality.wait`` for each stage from the live
        ``SparkContext.conf``. False where that cannot be written: nothing changes then.
        """
        return self._set("spark.locality.wait", wait or self._locality_wait)

    def set_process_wait(self, wait: str | None) -> bool:
        """Set how long tasks wait for the very executor that they prefer, as state tasks do; None
        restores the application's own setting.

        False where that cannot be written.
        """
        return self._set("spark.locality.wait.process", wait or self._process_wait)

    def cannot_place(self) -> str | None:
        """Return why state cannot be placed in this Spark, in one line; None if it can."""
        if self._coordinator is None:
            return (
                "this Spark has no state store coordinator to be asked"
                " (StreamingQueryManager.stateStoreCoordinator)"
            )
        missing = {"getLocation", "reportActiveInstance"} - set(dir(self._coordinator))
        if missing:
            return f"this Spark's state store coordinator has no {', '.join(sorted(missing))}"
        try:
            self._reachable()
        except (Py4JError, TypeError):
            return (
                "this Spark does not tell the hosts of its executors"
                " (BlockManagerMaster.getMemoryStatus)"
            )
        return None

    def store(
        self, state_folder: str, run_id: str, operator: int, partition: int, name: str
    ) -> Any:
        """Return Spark's name of one state store of a running query, for ``location`` and
        ``report`` (``StateStoreProviderId``).
        """
        state = self._jvm.org.apache.spark.sql.execution.streaming.state
        store = state.StateStoreId(state_folder, operator, partition, name)
        return state.StateStoreProviderId(store, self._jvm.java.util.UUID.fromString(run_id))

    def location(self, store: Any) -> str | None:
        """Return the executor that holds a store (``StateStoreCoordinatorRef.getLocation``); None
        if none is known.
        """
        return executor_in(self._coordinator.getLocation(store).toString())

    def report(self, store: Any, host: str, executor: str) -> None:
        """Say where a store lives now; the next batch runs its task there
        (``StateStoreCoordinatorRef.reportActiveInstance``).

        The answer is dropped. From 4.2 on it may ask for a snapshot; the coordinator keeps asking
        until it has one, so the executor hears it with its own next report.
        """
        self._coordinator.reportActiveInstance(store, host, executor, self._nothing)

    def state_folder(self, query: Any) -> str | None:
        """Return the folder of a query's state as the stores are named by it
        (``StreamExecution.resolvedCheckpointRoot``).
        """
        try:
            root = query._jsq.streamingQuery().resolvedCheckpointRoot()
            return str(self._jvm.org.apache.hadoop.fs.Path(root, "state").toString())
        except (Py4JError, AttributeError, TypeError):
            return None

    def last_batch(self, query: Any) -> int:
        """Return the number of the last finished batch of a query, -1 for none: a tenth of the
        price of ``lastProgress``.
        """
        progress = query._jsq.lastProgress()
        return -1 if progress is None else int(progress.batchId())

    def listing(self, folder: str) -> list[str]:
        """Return the names in a folder of any file system that Spark reads (Hadoop's
        ``FileSystem``); none if it is not there.
        """
        try:
            path = self._jvm.org.apache.hadoop.fs.Path(folder)
            return [
                str(found.getPath().getName())
                for found in path.getFileSystem(self._hadoop()).listStatus(path)
            ]
        except Py4JError:
            return []

    def bytes_in(self, folder: str) -> int | None:
        """Return the bytes below a folder of any file system that Spark reads
        (``getContentSummary``); None if it is not there.
        """
        try:
            path = self._jvm.org.apache.hadoop.fs.Path(folder)
            return int(path.getFileSystem(self._hadoop()).getContentSummary(path).getLength())
        except Py4JError:
            return None

    def text(self, file: str) -> str | None:
        """Return a small file's text, of any file system that Spark reads; None if it is not
        there.
        """
        try:
            path = self._jvm.org.apache.hadoop.fs.Path(file)
            stream = path.getFileSystem(self._hadoop()).open(path)
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()
        except Py4JError:
            return None

    def trigger_s(self, query: Any) -> float | None:
        """Return the trigger interval of a query, 0 for batches back to back
        (``StreamExecution.trigger``); None if it cannot be told.
        """
        try:
            trigger = query._jsq.streamingQuery().trigger()
            return (
                float(trigger.intervalMs()) / 1000
                if "ProcessingTime" in trigger.toString()
                else None
            )
        except (Py4JError, AttributeError):
            return None

    def thread_cpu_s(self) -> float | None:
        """Return the CPU seconds of the JVM thread that serves the calling Python thread
        (``ThreadMXBean``).
        """
        try:
            return float(self._thread_bean.getCurrentThreadCpuTime()) / 1e9
        except Py4JError:
            return None

    def process_id(self) -> int:
        """Return the process id of the driver's JVM."""
        return int(self._jvm.java.lang.ProcessHandle.current().pid())

    def _set(self, name: str, value: str) -> bool:
        try:
            self._scala_context.conf().set(name, value)
        except (Py4JError, TypeError):
            return False
        return True

    def _find_coordinator(self) -> Any:
        try:
            return self._spark._jsparkSession.streams().stateStoreCoordinator()
        except (Py4JError, AttributeError, TypeError):
            return None

    def _hadoop(self) -> Any:
        return self._spark._jsparkSession.sessionState().newHadoopConf()

    def _reachable(self) -> dict[str, str]:
        return hosts_in(self._block_manager.master().getMemoryStatus().toString())

    @functools.cached_property
    def _thread_bean(self) -> Any:
        return self._jvm.java.lang.management.ManagementFactory.getThreadMXBean()

    @functools.cached_property
    def _driver_id(self) -> Any:
        return self._block_manager.blockManagerId()

    @functools.cached_property
    def _block_manager(self) -> Any:
        """Return the driver's BlockManager, by method handles.

        Plain reflection looks at all methods, and Spark 4.3's SparkEnv has one with a class that is
        on no class path.
        """
        java = self._jvm.java.lang
        load, lookup = java.Class.forName, java.invoke.MethodHandles.publicLookup()
        method_type, nothing = java.invoke.MethodType.methodType, self._jvm.java.util.ArrayList()
        environment = load("org.apache.spark.SparkEnv")
        current = lookup.findStatic(
            environment, "get", method_type(environment)
        ).invokeWithArguments(nothing)
        nothing.add(current)
        manager = method_type(load("org.apache.spark.storage.BlockManager"))
        return lookup.findVirtual(environment, "blockManager", manager).invokeWithArguments(nothing)

    def _sequence(self, items: Sequence[str]) -> Any:
        listed = self._jvm.java.util.ArrayList()
        for item in items:
            listed.add(item)
        return self._jvm.PythonUtils.toSeq(listed)

    # Warm-up: what spark/warming/warmup.py needs.

    def uses_python(self, query: Any) -> bool:
        """Tell whether tasks of a running query need Python workers, by the operators of its plan
        (``StreamingQuery.explain``).
        """
        try:
            return bool(_PYTHON_OPERATORS.search(str(query._jsq.explainInternal(False))))
        except (Py4JError, AttributeError, TypeError):
            return False

    def tasks_done(self, executor: str) -> int:
        """Return how many tasks an executor has ended (``AppStatusStore.executorSummary``); 0 where
        that cannot be told.
        """
        try:
            return int(self._scala_context.statusStore().executorSummary(executor).completedTasks())
        except Py4JError:
            return 0

    def batch_times(self, query: Any, most: int) -> list[BatchTime]:
        """Return the last finished batches of a query, at most so many, oldest first; triggers that
        ran no batch, which Spark reports too, are left out.
        """
        return [
            BatchTime(
                int(progress.batchId()),
                _unix_s(progress.timestamp()),
                int(progress.durationMs()["triggerExecution"]) / 1000,
            )
            for progress in query._jsq.recentProgress()[-most:]
            if progress.durationMs().containsKey("addBatch")
        ]

    def pauses_after(self, query: Any) -> int | None:
        """Return the number of the batch after which a query pauses; None while it runs one.

        It runs none if no trigger is active and the progress of its last plan is known
        (``StreamExecution.lastExecution``).
        """
        execution, progress = query._jsq.streamingQuery().lastExecution(), query._jsq.lastProgress()
        if execution is None or progress is None or query._jsq.status().isTriggerActive():
            return None
        number = int(execution.currentBatchId())
        return number if number == int(progress.batchId()) else None

    def hold(self, executor: str, host: str, for_s: float, group: str) -> int:
        """Fill an executor's slots with tasks that sleep for so many seconds, wait for their end
        and return how many there were.
        """
        slots = slots_per_executor(self._spark)
        sleep = f"java_method('java.lang.Thread', 'sleep', {round(for_s * 1000)}L)"
        sleeping = self._spark.range(0, slots, 1, slots).selectExpr(sleep)
        self._context.setJobGroup(group, HOLDS, interruptOnCancel=False)
        self._run_again(sleeping._jdf.queryExecution().executedPlan(), executor, host, range(slots))
        return slots

    def rehearse_on(self, query: Any, executor: str, host: str, group: str) -> bool:
        """Let an executor run tasks of a query's last batch again, of those that read its source;
        what they read is dropped.

        To be called between two batches: the plan of a running one counts rows, and must not count
        them twice. False where the plan has other operators than Spark's own or the batch was
        large: nothing is run then. Raises what the job raises.
        """
        parts = self._reading_parts(self._plan(query))
        if not (self._is_small(query) and parts and all(map(self._is_harmless, parts))):
            return False
        self._context.setJobGroup(group, READS, interruptOnCancel=False)
        for part in parts:
            self._run_again(part, executor, host, range(_REHEARSED_PARTITIONS))
        self._preferring(executor, host).repartition(1).count()
        return True

    def rehearse_state_on(self, query: Any, executor: str, host: str, group: str) -> bool:
        """Let an executor load the state of one partition and compute what the last batch computed
        from it, but write nothing.

        The partition is the executor's number, modulo their number, so that executors that come
        together take different ones. Its stores are then open there, as they were before the last
        batch, and the coordinator knows. Only where everything that is stateful in the plan is an
        aggregation (the others read and write in one operator), and where no executor goes without
        a partition. Else as ``rehearse_on``.
        """
        parts = self._parts_below(self._plan(query), _SAVING)
        operators = query._jsq.lastProgress().stateOperators()
        enough = all(
            int(operator.numShufflePartitions()) >= len(self.executor_ids())
            for operator in operators
        )
        if not (
            enough
            and self._is_small(query)
            and 0 < len(parts) == len(operators)
            and all(map(self._is_harmless, parts))
        ):
            return False
        self._context.setJobGroup(group, COMPUTES, interruptOnCancel=False)
        for part in parts:
            self._run_again(part, executor, host, (int(executor) if executor.isdecimal() else 0,))
        return True

    def preload(self, query: Any, partitions: Collection[int], group: str) -> bool:
        """Let executors open partitions of a query's state as its last batch left them, where the
        coordinator says that they are.

        To be called between two batches: the next one then finds them open. Nothing is computed or
        written (``OpenStores``). False where Spark closes what was opened to read only (before
        4.1), and for operators that are not known: nothing is run then. Raises what the jobs raise.
        """
        operators = self._named(self._plan(query), _OPENING) if self._leaves_open else []
        known = [
            (operator, stores)
            for operator in operators
            if (stores := self._stores_of(operator)) is not None
        ]
        if known:
            self._context.setJobGroup(group, LOADS, interruptOnCancel=False)
        for operator, stores in known:
            places = self._at_their_places(operator.getStateInfo(), stores.names[0], partitions)
            places.mapPartitions(self._opener(query, operator, stores)).count()
        return bool(known)

    def run_python_on(self, executor: str, host: str, work: Callable[[], None], group: str) -> None:
        """Run a Python function in one task that prefers an executor, and wait for its end.

        Raises what the job raises. Fails when: the executor is busy for longer than
        ``spark.locality.wait``: another one then runs the task.
        """
        from pyspark import RDD  # not there in a client of Spark Connect
        from pyspark.serializers import UTF8Deserializer

        self._context.setJobGroup(group, STARTS_PYTHON, interruptOnCancel=False)
        RDD(self._preferring(executor, host), self._context, UTF8Deserializer()).foreach(
            lambda _: work()
        )

    def _preferring(self, executor: str, host: str, partitions: int = 1) -> Any:
        """Return an RDD of one row a partition whose tasks prefer an executor
        (``SparkContext.makeRDD`` with preferences).
        """
        rows, places = (
            self._jvm.java.util.ArrayList(),
            self._sequence([f"executor_{host}_{executor}"]),
        )
        for _ in range(partitions):
            rows.add(self._jvm.scala.Tuple2(bytearray(b"warm-up"), places))
        return self._placed(rows, "[B")

    def _placed(self, rows: Any, kind: str) -> Any:
        """Return an RDD of rows and where each is preferred, a partition each."""
        tag = self._jvm.scala.reflect.ClassTag.apply(self._jvm.java.lang.Class.forName(kind))
        return self._scala_context.makeRDD(self._jvm.PythonUtils.toSeq(rows), tag).toJavaRDD()

    def _plan(self, query: Any) -> Any:
        return query._jsq.streamingQuery().lastExecution().executedPlan()

    def _is_small(self, query: Any) -> bool:
        return int(query._jsq.lastProgress().numInputRows()) <= _REHEARSED_ROWS

    def _run_again(self, part: Any, executor: str, host: str, numbers: Sequence[int]) -> None:
        """Run tasks of a part of a plan on an executor; numbers beyond the number of tasks begin at
        the first again.
        """
        rows = part.execute().toJavaRDD().glom()
        partitions = rows.getNumPartitions()
        chosen = self._array(self._jvm.int, sorted({number % partitions for number in numbers}))
        self._preferring(executor, host, partitions).zip(rows).keys().collectPartitions(chosen)

    def _at_their_places(self, info: Any, name: str, partitions: Collection[int]) -> Any:
        """Return an RDD with a task for each state partition of an operator, its number, preferring
        the executor that holds it.
        """
        rows, run_id = self._jvm.java.util.ArrayList(), str(info.queryRunId())
        for partition in partitions:
            place = self._coordinator.getLocation(
                self.store(
                    str(info.checkpointLocation()), run_id, info.operatorId(), partition, name
                )
            )
            rows.add(
                self._jvm.scala.Tuple2(
                    partition, self._sequence([place.get()] if place.isDefined() else [])
                )
            )
        return self._placed(rows, "java.lang.Integer")

    def _opener(self, query: Any, operator: Any, stores: _Stores) -> Any:
        """Return what opens the stores of an operator as the next batch will (``OpenStores``)."""
        info, state = (
            operator.getStateInfo(),
            self._jvm.org.apache.spark.sql.execution.streaming.state,
        )
        hadoop = self._jvm.org.apache.spark.util.SerializableConfiguration(
            operator.session().sessionState().newHadoopConf()
        )
        keys, values, encoders = zip(*stores.described, strict=True)
        schema = self._jvm.org.apache.spark.sql.types.StructType
        parts = (
            info.checkpointLocation(),
            info.queryRunId(),
            info.operatorId(),
            self._next_version(query),
            self._checkpoint_ids(query, info),
            self._array(self._jvm.java.lang.String, stores.names),
            self._array(schema, keys),
            self._array(schema, values),
            self._array(state.KeyStateEncoderSpec, encoders),
            stores.schemas,
            stores.families,
            stores.multiple,
            stores.settings,
            hadoop,
        )
        return self._open_stores.newInstance(self._array(self._jvm.java.lang.Object, parts))

    def _stores_of(self, operator: Any) -> _Stores | None:
        """Return the stores of an operator in its own words; None where these are not known."""
        return (
            self._join_stores(operator)
            if str(operator.nodeName()) == _JOIN
            else self._only_store(operator)
        )

    def _only_store(self, operator: Any) -> _Stores | None:
        """Return the store of an operator that has one, as the RDD of its last batch has it
        (``StateStoreRDD``, ``ReadStateStoreRDD``).
        """
        rows = operator.execute()
        while not str(rows.getClass().getSimpleName()).endswith("StateStoreRDD"):
            above = rows.dependencies()
            if above.size() != 1:
                return None
            rows = above.head().rdd()
        writes = str(rows.getClass().getSimpleName()) == "StateStoreRDD"
        return _Stores(
            names=("default",),
            described=(
                (
                    self._field(rows, "keySchema"),
                    self._field(rows, "valueSchema"),
                    self._field(rows, "keyStateEncoderSpec"),
                ),
            ),
            schemas=self._field(rows, "stateSchemaBroadcast"),
            families=bool(self._field(rows, "useColumnFamilies")),
            multiple=writes and bool(self._field(rows, "useMultipleValuesPerKey")),
            settings=rows.storeConf(),
        )

    def _join_stores(self, join: Any) -> _Stores | None:
        """Return the stores of a stream-stream join of the formats 1 to 3
        (``SymmetricHashJoinStateManager``); 3 has one, not four.
        """
        form = int(join.stateFormatVersion())
        if form not in (1, 2, 3):
            return None
        state, described = self._jvm.org.apache.spark.sql.execution.streaming.state, {}
        for side, child, keys in (
            ("Left", join.left(), join.leftKeys()),
            ("Right", join.right(), join.rightKeys()),
        ):
            named = self._single(f"{_JOINS}.StreamingSymmetricHashJoinHelper${side}Side$")
            schemas = self._single(
                f"{_JOINS}.SymmetricHashJoinStateManager$"
            ).getSchemaForStateStores(named, child.output(), keys, form)
            for name in (name for name in JOIN_STORES if name.startswith(side.lower())):
                key, value = schemas.apply(name)._1(), schemas.apply(name)._2()
                described[name] = (key, value, state.NoPrefixKeyStateEncoderSpec(key))
        if form == 3:
            described = {"default": described[JOIN_STORES[0]]}
        nothing = self._jvm.PythonUtils.toScalaMap(self._jvm.java.util.HashMap())
        return _Stores(
            names=tuple(described),
            described=tuple(described.values()),
            schemas=self._jvm.scala.Option.empty(),
            families=form == 3,
            multiple=False,
            settings=state.StateStoreConf(join.session().sessionState().conf(), nothing),
        )

    def _next_version(self, query: Any) -> int:
        """Return which version of its state a query reads in its next batch: the number of that
        batch (``IncrementalExecution``).
        """
        return int(query._jsq.streamingQuery().lastExecution().currentBatchId()) + 1

    def _checkpoint_ids(self, query: Any, info: Any) -> Any:
        """Return the names of the files of an operator's last checkpoint (of format 2; in format 1
        they have none).
        """
        execution = query._jsq.streamingQuery()
        return self._field(execution, "currentStateStoreCkptId", "MicroBatchExecution").get(
            info.operatorId()
        )

    def _field(self, of: Any, name: str, kind_name: str = "") -> Any:
        """Return a private field of an object, of its own class or of the one of that name above
        it.
        """
        kind = of.getClass()
        while kind_name and str(kind.getSimpleName()) != kind_name:
            kind = kind.getSuperclass()
        field = kind.getDeclaredField(name)
        field.setAccessible(True)
        return field.get(of)

    def _single(self, name: str) -> Any:
        """Return a Scala object."""
        return self._jvm.java.lang.Class.forName(name).getField("MODULE$").get(None)

    def _array(self, kind: Any, items: Sequence[Any]) -> Any:
        made = self._context._gateway.new_array(kind, len(items))
        for i, item in enumerate(items):
            made[i] = item
        return made

    @functools.cached_property
    def _hiding(self) -> Any:
        """Return the listener that hides executors as they come; it runs in the driver."""
        constructor, _ = self._compiled("driver", "HideNewcomers")
        return constructor.newInstance(
            self._array(self._jvm.java.lang.Object, (self._block_manager.master(),))
        )

    @functools.cached_property
    def _open_stores(self) -> Any:
        """Return the constructor of ``OpenStores``, which is sent to the executors as a JAR."""
        java = self._jvm.java
        constructor, code = self._compiled("executor", "OpenStores")
        jar = java.nio.file.Files.createTempFile(
            "rheostat-", ".jar", self._array(java.nio.file.attribute.FileAttribute, ())
        )
        jar.toFile().deleteOnExit()
        written = java.util.jar.JarOutputStream(java.io.FileOutputStream(jar.toFile()))
        written.putNextEntry(java.util.zip.ZipEntry("rheostat/OpenStores.class"))
        written.write(code)
        written.close()
        self._scala_context.addJar(jar.toUri().toString())
        return constructor

    def _compiled(self, folder: str, name: str) -> tuple[Any, Any]:
        """Return the constructor and the code of a class of ours, compiled here by Spark's own
        compiler (Janino).
        """
        compiler, source = (
            self._jvm.org.codehaus.janino.SimpleCompiler(),
            Path(__file__).parent / folder / f"{name}.java",
        )
        compiler.setParentClassLoader(
            self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        )
        compiler.cook(source.read_text(encoding="utf-8"))
        compiled = compiler.getClassLoader().loadClass(f"rheostat.{name}")
        return compiled.getConstructors()[0], compiler.getBytecodes().get(f"rheostat.{name}")

    @functools.cached_property
    def _leaves_open(self) -> bool:
        """Whether a store that was opened to read stays as it is when its task ends
        (``ReadStateStore.release``, from Spark 4.1 on).
        """
        store = self._jvm.java.lang.Class.forName(
            "org.apache.spark.sql.execution.streaming.state.ReadStateStore"
        )
        return any(str(method.getName()) == "release" for method in store.getMethods())

    def _parts_below(self, plan: Any, names: frozenset[str]) -> list[Any]:
        """Return the child of each operator of these names."""
        return [operator.child() for operator in self._named(plan, names)]

    def _named(self, plan: Any, names: frozenset[str]) -> list[Any]:
        """Return the operators of these names."""
        below = [
            operator for child in self._children(plan) for operator in self._named(child, names)
        ]
        return [plan, *below] if str(plan.nodeName()) in names else below

    def _reading_parts(self, plan: Any) -> list[Any]:
        """Return the parts of a physical plan below its lowest exchanges: what the tasks run that
        read a source.
        """
        parts = [part for child in self._children(plan) for part in self._reading_parts(child)]
        return parts or ([plan.child()] if str(plan.nodeName()) == "Exchange" else [])

    def _is_harmless(self, plan: Any) -> bool:
        """Tell whether a part of a plan, down to the next exchanges, may be run again for
        nothing.
        """
        patterns = self._jvm.org.apache.spark.sql.catalyst.trees.TreePattern
        users = any(
            plan.containsPattern(pattern)
            for pattern in (patterns.SCALA_UDF(), patterns.PYTHON_UDF())
        )
        return not users and self._is_known(plan)

    def _is_known(self, plan: Any) -> bool:
        name = str(plan.nodeName()).partition(" ")[0]
        return name == "Exchange" or (
            name in _READING | _RESTORING and all(map(self._is_known, self._children(plan)))
        )

    def _children(self, plan: Any) -> list[Any]:
        children = plan.children()
        return [children.apply(i) for i in range(children.size())]


def hosts_in(text: str) -> dict[str, str]:
    """Return executors and their hosts, oldest first, from the text of Spark's ``BlockManagerId(id,
    host, port, topology)``.
    """
    found = dict(_BLOCK_MANAGER.findall(text))
    return {executor: found[executor] for executor in sorted(found.keys() - {_DRIVER}, key=_age)}


def _unix_s(timestamp: Any) -> float:
    """Return the seconds of a progress event's timestamp."""
    return datetime.fromisoformat(str(timestamp).replace("Z", "+00:00")).timestamp()


def executor_in(text: str) -> str | None:
    """Return the executor of ``Some(executor_<host>_<id>)``, None of ``None``."""
    return text[:-1].rpartition("_")[2] if text.startswith("Some(") else None


def _age(executor: str) -> tuple[int, str]:
    """Sort executors by their number: the oldest first."""
    return len(executor), executor
