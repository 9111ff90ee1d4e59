"""Loads state on executors before the batch that needs it."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any

from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.queries import plans
from rheostat.spark.internals.state.coordinator import Coordinator
from rheostat.spark.internals.state.operator_stores import OPENING, OperatorStores, Stores
from rheostat.spark.internals.tasks.placed_tasks import PlacedTasks

LOADS = "rheostat loads state"
"""The name of these jobs in Spark's UI and event log."""

_STATE = "org.apache.spark.sql.execution.streaming.state"


class StateLoads:
    """Makes executors open state stores for reading, with the compiled class ``OpenStores``.

    * Calls: ``SparkPlan.execute``, ``MicroBatchExecution.currentStateStoreCkptId``, those of
      ``OperatorStores`` and ``CompiledClasses``; probed by ``ReadStateStore.release``.
    * Without them: the batch loads the state, as without Rheostat.
    * Spark 4.1 to 4.3 (4.3.0 tried).
    """

    def __init__(
        self,
        gateway: Gateway,
        classes: CompiledClasses,
        coordinator: Coordinator,
        tasks: PlacedTasks,
        stores: OperatorStores,
    ) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._classes = classes
        self._coordinator = coordinator
        self._tasks = tasks
        self._stores = stores

    def preload(self, query: Any, partitions: Collection[int], group: str) -> bool:
        """Make executors open a query's state partitions where the coordinator places them.

        Call between two batches. False before Spark 4.1 and for unknown operators; raises the jobs'
        errors.
        """
        operators = plans.named(plans.last_plan(query), OPENING) if self._keeps_stores_open else []
        described = [(operator, self._stores.of(operator)) for operator in operators]
        known = [(operator, stores) for operator, stores in described if stores is not None]
        if known:
            self._tasks.call(group, LOADS)
        for operator, stores in known:
            places = self._at_their_places(operator.getStateInfo(), stores.names[0], partitions)
            # A count is the cheapest action that runs every task and returns nothing.
            places.mapPartitions(self._opener(query, operator, stores)).count()
        return bool(known)

    def _at_their_places(self, info: Any, name: str, partitions: Collection[int]) -> Any:
        """Return an RDD with a task per state partition, preferring the executor that holds it."""
        folder, run_id = str(info.checkpointLocation()), str(info.queryRunId())
        rows = []
        for partition in partitions:
            store = self._coordinator.store(folder, run_id, info.operatorId(), partition, name)
            place = self._coordinator.place(store)
            rows.append((partition, [] if place is None else [place]))
        return self._tasks.rows_at(rows, "java.lang.Integer")

    def _opener(self, query: Any, operator: Any, stores: Stores) -> Any:
        """Return a function that opens an operator's stores like its next batch."""
        info = operator.getStateInfo()
        state = self._jvm.org.apache.spark.sql.execution.streaming.state
        hadoop = self._jvm.org.apache.spark.util.SerializableConfiguration(
            operator.session().sessionState().newHadoopConf()
        )
        keys, values, encoders = zip(*stores.described, strict=True)
        schema = self._jvm.org.apache.spark.sql.types.StructType
        parts = (
            info.checkpointLocation(),
            info.queryRunId(),
            info.operatorId(),
            _next_version(query),
            self._checkpoint_ids(query, info),
            self._gateway.array(self._jvm.java.lang.String, stores.names),
            self._gateway.array(schema, keys),
            self._gateway.array(schema, values),
            self._gateway.array(state.KeyStateEncoderSpec, encoders),
            stores.schemas,
            stores.families,
            stores.multiple,
            stores.settings,
            hadoop,
        )
        return self._open_stores.newInstance(self._gateway.array(self._jvm.java.lang.Object, parts))

    def _checkpoint_ids(self, query: Any, info: Any) -> Any:
        """Return the file names of an operator's last checkpoint (format 2 only)."""
        execution = query._jsq.streamingQuery()
        ids = self._gateway.field(execution, "currentStateStoreCkptId", "MicroBatchExecution")
        return ids.get(info.operatorId())

    @functools.cached_property
    def _open_stores(self) -> Any:
        return self._classes.on_executors("OpenStores")

    @functools.cached_property
    def _keeps_stores_open(self) -> bool:
        """Return whether reading keeps a store open (``ReadStateStore.release``, Spark 4.1+)."""
        store = self._gateway.class_named(f"{_STATE}.ReadStateStore")
        return any(str(method.getName()) == "release" for method in store.getMethods())


def _next_version(query: Any) -> int:
    """Return the state version that the next batch reads (``IncrementalExecution``)."""
    return int(query._jsq.streamingQuery().lastExecution().currentBatchId()) + 1
