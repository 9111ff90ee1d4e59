"""Describes the state stores of an operator as the operator describes them to its tasks."""

from __future__ import annotations

from typing import Any, NamedTuple

from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.queries.plans import RESTORING
from rheostat.spark.sensing.queries.state_stores import JOIN_STORES

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
