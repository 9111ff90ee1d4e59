"""Loads state on executors before the batch that needs it, as its operators describe it."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from rheostat.spark.internals import plans
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.coordinator import Coordinator
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.placed_tasks import PlacedTasks
from rheostat.spark.internals.plans import RESTORING
from rheostat.spark.sensing.state_stores import JOIN_STORES

_JOIN = "StreamingSymmetricHashJoin"
_JOINS = "org.apache.spark.sql.execution.streaming.operators.stateful.join"
_SHARED_STORE_FORMAT = 3
"""From this format on a join has one store per partition instead of four."""

OPENING = RESTORING | {
    _JOIN,
    "StreamingDeduplicate",
    "StreamingDeduplicateWithinWatermark",
    "FlatMapGroupsWithState",
    "FlatMapGroupsInPandasWithState",
    "TransformWithState",
    "TransformWithStateInPySpark",
}
"""Operators whose stores can be opened before their batch; an aggregation has one operator that
reads and one that saves the same store."""

LOADS = "rheostat loads state"
"""The name of these jobs in Spark's UI and event log."""

_STATE = "org.apache.spark.sql.execution.streaming.state"


class Stores(NamedTuple):
    """A partition's stores: names, and key schema, value schema and key encoder of each."""

    names: tuple[str, ...]
    described: tuple[tuple[Any, Any, Any], ...]
    schemas: Any
    families: bool
    multiple: bool
    settings: Any


class OperatorStores:
    """Describes the stores of operators.

    * Calls: the private fields of ``StateStoreRDD`` and ``ReadStateStoreRDD``; for joins
      ``SymmetricHashJoinStateManager.getSchemaForStateStores``.
    * Without them: None if the operator is unknown; otherwise the call raises, and the batch loads
      the state.
    * Spark 4.1 to 4.3 (4.3.0 tried).
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm

    def of(self, operator: Any) -> Stores | None:
        """Return the stores of an operator from its own description; None if it is unknown."""
        if str(operator.nodeName()) == _JOIN:
            return self._of_join(operator)
        return self._only_store(operator)

    def _only_store(self, operator: Any) -> Stores | None:
        """Return an operator's only store from its RDD (``StateStoreRDD`` and the like)."""
        rows = _store_rows(operator.execute())
        if rows is None:
            return None
        described = ("keySchema", "valueSchema", "keyStateEncoderSpec")
        # An RDD that only reads lacks this field.
        writes = _class_of(rows) == "StateStoreRDD"
        return Stores(
            names=("default",),
            described=(tuple(self._gateway.field(rows, name) for name in described),),
            schemas=self._gateway.field(rows, "stateSchemaBroadcast"),
            families=bool(self._gateway.field(rows, "useColumnFamilies")),
            multiple=writes and bool(self._gateway.field(rows, "useMultipleValuesPerKey")),
            settings=rows.storeConf(),
        )

    def _of_join(self, join: Any) -> Stores | None:
        """Return the stores of a join, formats 1 to 3 (``SymmetricHashJoinStateManager``)."""
        version = int(join.stateFormatVersion())
        if version not in (1, 2, _SHARED_STORE_FORMAT):
            return None
        shared = version == _SHARED_STORE_FORMAT
        described = {
            **self._of_side("Left", join.left(), join.leftKeys(), version),
            **self._of_side("Right", join.right(), join.rightKeys(), version),
        }
        if shared:
            described = {"default": described[JOIN_STORES[0]]}
        state = self._jvm.org.apache.spark.sql.execution.streaming.state
        settings = join.session().sessionState().conf()
        return Stores(
            names=tuple(described),
            described=tuple(described.values()),
            schemas=self._jvm.scala.Option.empty(),
            families=shared,
            multiple=False,
            settings=state.StateStoreConf(settings, self._gateway.empty_map),
        )

    def _of_side(
        self, side: str, child: Any, keys: Any, version: int
    ) -> dict[str, tuple[Any, Any, Any]]:
        """Return key schema, value schema and key encoder of each store of a side of a join."""
        manager = self._gateway.single(f"{_JOINS}.SymmetricHashJoinStateManager$")
        of_side = self._gateway.single(f"{_JOINS}.StreamingSymmetricHashJoinHelper${side}Side$")
        schemas = manager.getSchemaForStateStores(of_side, child.output(), keys, version)
        encoder = (
            self._jvm.org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec
        )
        stores = {}
        for name in (name for name in JOIN_STORES if name.startswith(side.lower())):
            key, value = schemas.apply(name)._1(), schemas.apply(name)._2()
            stores[name] = (key, value, encoder(key))
        return stores


def _store_rows(rows: Any) -> Any:
    """Return the RDD at or above an operator's that opens its stores; None at a fork."""
    while not _class_of(rows).endswith("StateStoreRDD"):
        above = rows.dependencies()
        if above.size() != 1:
            return None
        rows = above.head().rdd()
    return rows


def _class_of(rows: Any) -> str:
    return str(rows.getClass().getSimpleName())


@dataclass(eq=False)
class StateLoads:
    """Makes executors open state stores for reading, with the compiled class ``OpenStores``.

    * Calls: ``SparkPlan.execute``, ``MicroBatchExecution.currentStateStoreCkptId``, those of
      ``OperatorStores`` and ``CompiledClasses``; probed by ``ReadStateStore.release``.
    * Without them: the batch loads the state, as without Rheostat.
    * Spark 4.1 to 4.3 (4.3.0 tried).
    """

    gateway: Gateway
    classes: CompiledClasses
    coordinator: Coordinator
    tasks: PlacedTasks
    stores: OperatorStores

    def preload(self, query: Any, partitions: Collection[int], group: str) -> bool:
        """Make executors open a query's state partitions where the coordinator places them.

        Call between two batches. False before Spark 4.1 and for unknown operators; raises the jobs'
        errors.
        """
        operators = plans.named(plans.last_plan(query), OPENING) if self._keeps_stores_open else []
        described = [(operator, self.stores.of(operator)) for operator in operators]
        known = [(operator, stores) for operator, stores in described if stores is not None]
        if known:
            self.tasks.call(group, LOADS)
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
            store = self.coordinator.store(folder, run_id, info.operatorId(), partition, name)
            place = self.coordinator.place(store)
            rows.append((partition, [] if place is None else [place]))
        return self.tasks.rows_at(rows, "java.lang.Integer")

    def _opener(self, query: Any, operator: Any, stores: Stores) -> Any:
        """Return a function that opens an operator's stores like its next batch."""
        info = operator.getStateInfo()
        state = self.gateway.jvm.org.apache.spark.sql.execution.streaming.state
        hadoop = self.gateway.jvm.org.apache.spark.util.SerializableConfiguration(
            operator.session().sessionState().newHadoopConf()
        )
        keys, values, encoders = zip(*stores.described, strict=True)
        schema = self.gateway.jvm.org.apache.spark.sql.types.StructType
        parts = (
            info.checkpointLocation(),
            info.queryRunId(),
            info.operatorId(),
            # The state version that the next batch reads (``IncrementalExecution``).
            int(query._jsq.streamingQuery().lastExecution().currentBatchId()) + 1,
            self._checkpoint_ids(query, info),
            self.gateway.array(self.gateway.jvm.java.lang.String, stores.names),
            self.gateway.array(schema, keys),
            self.gateway.array(schema, values),
            self.gateway.array(state.KeyStateEncoderSpec, encoders),
            stores.schemas,
            stores.families,
            stores.multiple,
            stores.settings,
            hadoop,
        )
        return self._open_stores.newInstance(
            self.gateway.array(self.gateway.jvm.java.lang.Object, parts)
        )

    def _checkpoint_ids(self, query: Any, info: Any) -> Any:
        """Return the file names of an operator's last checkpoint (format 2 only)."""
        execution = query._jsq.streamingQuery()
        ids = self.gateway.field(execution, "currentStateStoreCkptId", "MicroBatchExecution")
        return ids.get(info.operatorId())

    @functools.cached_property
    def _open_stores(self) -> Any:
        return self.classes.on_executors("OpenStores")

    @functools.cached_property
    def _keeps_stores_open(self) -> bool:
        """Return whether reading keeps a store open (``ReadStateStore.release``, Spark 4.1+)."""
        store = self.gateway.class_named(f"{_STATE}.ReadStateStore")
        return any(str(method.getName()) == "release" for method in store.getMethods())
