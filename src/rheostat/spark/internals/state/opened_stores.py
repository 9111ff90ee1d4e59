"""Opens the stores of a checkpoint with Spark's own state reader, for use in tasks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rheostat.errors import RheostatError
from rheostat.spark.internals.gateway import RAISED, Gateway, java_message

_JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStore:
    """A store by its metadata; ``ids`` name its files (empty in checkpoint format 1)."""

    operator: int
    operator_name: str
    name: str
    ids: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStores:
    """Openable stores, and whether each has a key; a store without a key uses partition 0 only."""

    stores: tuple[KeptStore, ...]
    keyed: tuple[bool, ...]
    rocksdb: bool
    java: Any


class StateStores:
    """Opens stores; ``made`` creates the Java object for the tasks.

    * Calls: the source ``statestore`` with the option that reads all column families, what its scan
      sends to executors (``StatePartitionReaderFactory``, ``StateStoreInputPartition``).
    * Without them: RheostatError before anything is written.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, made: Callable[[Sequence[Any]], Any]) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._made = made

    def open(
        self,
        checkpoint: str,
        planned: int,
        batch: int,
        settings: Mapping[str, str],
        rocksdb: bool,
        stores: Sequence[KeptStore],
    ) -> OpenStores:
        """Return stores as of a batch; ``planned`` is in both logs, ``settings`` from the offset
        log.

        Raises RheostatError if this Spark cannot read them.
        """
        try:
            session = self._session(settings)
            opened = [self._scan(session, checkpoint, planned, rocksdb, store) for store in stores]
            java = self._described(stores, opened, batch, rocksdb, settings)
        except (*RAISED, TypeError, AttributeError) as fault:
            raise RheostatError(
                f"this Spark cannot read the state: {java_message(fault)}"
            ) from None
        return OpenStores(
            stores=tuple(stores),
            keyed=tuple(keyed for _, _, keyed in opened),
            rocksdb=rocksdb,
            java=java,
        )

    def _session(self, settings: Mapping[str, str]) -> Any:
        session = self._gateway.spark.newSession()
        for name, value in settings.items():
            session.conf.set(name, value)
        return session

    def _scan(
        self, session: Any, checkpoint: str, planned: int, rocksdb: bool, store: KeptStore
    ) -> tuple[Any, Any, bool]:
        """Return a partition opener, a sample of its input, and whether the store has a key."""
        frame = (
            session.read.format("statestore")
            .option("batchId", planned)
            .option("operatorId", store.operator)
            .option("storeName", store.name)
            # Spark allows this option for RocksDB only, which alone has several column families.
            .option(self._reads_all_families, str(rocksdb).lower())
            .load(checkpoint)
        )
        key = frame.schema["partition_key" if rocksdb else "key"].dataType
        relation = frame._jdf.queryExecution().optimizedPlan().collectLeaves().head()
        batch = relation.scan().toBatch()
        return batch.createReaderFactory(), batch.planInputPartitions()[0], len(key.fields) > 0

    def _described(
        self,
        stores: Sequence[KeptStore],
        opened: Sequence[tuple[Any, Any, bool]],
        batch: int,
        rocksdb: bool,
        settings: Mapping[str, str],
    ) -> Any:
        java, connector = self._jvm.java.lang, self._jvm.org.apache.spark.sql.connector.read
        array = self._gateway.array
        parts = (
            array(java.String, [store.operator_name for store in stores]),
            array(self._jvm.long, [store.operator for store in stores]),
            array(java.String, [store.name for store in stores]),
            array(connector.PartitionReaderFactory, [factory for factory, _, _ in opened]),
            array(connector.InputPartition, [sample for _, sample, _ in opened]),
            array(java.Object, [self._ids(store.ids) for store in stores]),
            rocksdb,
            int(settings.get(_JOIN_FORMAT, "2")),
            batch,
        )
        return self._made(parts)

    def _ids(self, ids: tuple[tuple[str, ...], ...]) -> Any:
        if not ids:
            return None
        string = self._jvm.java.lang.String
        table = self._gateway.context._gateway.new_array(string, len(ids), len(ids[0]))
        for partition, names in enumerate(ids):
            for store, name in enumerate(names):
                table[partition][store] = name
        return table

    @functools.cached_property
    def _reads_all_families(self) -> str:
        """The reader's option for Spark's internal use."""
        source = self._jvm.org.apache.spark.sql.execution.datasources.v2.state
        return str(source.StateSourceOptions.INTERNAL_ONLY_READ_ALL_COLUMN_FAMILIES())
