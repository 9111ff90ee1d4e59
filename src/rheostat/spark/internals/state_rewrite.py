"""Opens the stores of a checkpoint with Spark's own state reader, and copies state byte for byte
into other partitions (``java/executor/``).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rheostat.errors import RheostatError
from rheostat.spark.internals.compiled_classes import CompiledClasses
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


JOB = "rheostat rewrites state"
"""The name of these jobs in Spark's UI and event log."""

CLASSES = (
    *("Hidden", "Scratch", "Tally", "StateStores", "Families", "LinkedFiles"),
    *("OpenedState", "MergedState", "NewState"),
    *("Runs", "MeasureState", "RewriteState", "SplitState", "MergeState"),
)
_POLL_S = 0.2

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReport:
    """A task's report about a partition: ``kind`` is counted, read or written."""

    kind: str
    operator: int
    name: str
    partition: int
    rows: int
    checksum: int
    bytes: int
    misplaced: int
    id: str


class StateRewrite:
    """Opens stores, and runs jobs over their partitions.

    * Calls: the source ``statestore`` with the option that reads all column families, what its scan
      sends to executors (``StatePartitionReaderFactory``, ``StateStoreInputPartition``);
      ``RocksDBStateStoreProvider``, ``HDFSBackedStateStoreProvider`` and ``RocksDB`` by
      reflection, ``StatePartitionKeyExtractorFactory``, ``HashPartitioning.partitionIdExpression``.
    * Without them: RheostatError before anything is written.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._classes = classes

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
        return self._made("StateStores", *parts)

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

    @property
    def slots(self) -> int:
        """The number of tasks that run at once."""
        return int(self._gateway.context.defaultParallelism)

    def measure(
        self,
        stores: OpenStores,
        parts: Sequence[tuple[int, int]],
        partitions: int,
        progress: Progress | None,
    ) -> list[PartitionReport]:
        """Count the rows of partitions of stores (number of the store, partition)."""
        task = self._made("MeasureState", stores.java, partitions)
        return self._reports(self._rows(parts).mapPartitions(task), progress)

    def rewrite(
        self,
        stores: OpenStores,
        groups: Sequence[tuple[int, ...]],
        batch: int,
        notes: str,
        progress: Progress | None,
    ) -> list[PartitionReport]:
        """Rewrite groups (store, old and new count, residue, divisor, slices), one task per slice,
        each recorded in the folder ``notes`` when done, if given.
        """
        task = self._made("RewriteState", stores.java, batch, notes)
        return self._reports(self._rows(groups).mapPartitions(task), progress)

    def shuffle(
        self,
        stores: OpenStores,
        parts: Sequence[tuple[int, int, int, int]],
        partitions: int,
        batch: int,
        progress: Progress | None,
    ) -> list[PartitionReport]:
        """Split the old partitions of all stores and shuffle the pieces to the new ones."""
        last = len(stores.stores) * partitions
        split = self._made("SplitState", stores.java, last)
        merge = self._made("MergeState", stores.java, batch, partitions, last)
        to_all = self._jvm.org.apache.spark.HashPartitioner(last + 1)
        pieces = self._rows(parts).flatMapToPair(split).partitionBy(to_all)
        return self._reports(pieces.mapPartitionsWithIndex(merge, False), progress)

    def _made(self, name: str, *parts: Any) -> Any:
        return self._constructors[name].newInstance(
            self._gateway.array(self._jvm.java.lang.Object, parts)
        )

    def _rows(self, rows: Sequence[Sequence[int]]) -> Any:
        made = [self._gateway.array(self._jvm.int, row) for row in rows]
        return self._gateway.context._jsc.parallelize(self._gateway.listed(made), len(made))

    def _reports(self, job: Any, progress: Progress | None) -> list[PartitionReport]:
        self._gateway.context.setJobGroup(JOB, JOB, interruptOnCancel=True)
        running = job.collectAsync()
        while not running.isDone():
            time.sleep(_POLL_S)
            if progress is not None:
                self._report_progress(running, progress)
        try:
            return [parsed_line(str(line)) for line in running.get()]
        except RAISED as fault:
            raise RheostatError(f"a task failed: {java_message(fault)}") from None

    def _report_progress(self, running: Any, progress: Progress) -> None:
        """Report how many tasks of a job are done."""
        tracker = self._gateway.context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in running.jobIds()]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        known = [stage for stage in stages if stage is not None]
        if known:
            done = sum(stage.numCompletedTasks for stage in known)
            progress(done, sum(stage.numTasks for stage in known))

    @functools.cached_property
    def _constructors(self) -> dict[str, Any]:
        return self._classes.all_on_executors(CLASSES)


def parsed_line(line: str) -> PartitionReport:
    """Return the report in a task's output line."""
    kind, operator, name, *numbers, store_id = line.split("\t")
    partition, rows, checksum, size, misplaced = map(int, numbers)
    return PartitionReport(
        kind=kind,
        operator=int(operator),
        name=name,
        partition=partition,
        rows=rows,
        checksum=checksum,
        bytes=size,
        misplaced=misplaced,
        id=store_id,
    )
