"""Reads state byte for byte and writes it into other partitions, with the compiled classes of
``executor/``.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from rheostat.errors import RheostatError
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import Gateway, said_by_java

JOB = "rheostat rewrites state"
"""What Spark's UI, and its event log, call these jobs."""

_CLASSES = (
    *(
        "Hidden",
        "Scratch",
        "Tally",
        "StateStores",
        "Families",
        "OpenedState",
        "MergedState",
        "NewState",
    ),
    *("Runs", "MeasureState", "RewriteState", "SplitState", "MergeState", "ReadWays"),
)
_LOOK_S = 0.2
_JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStore:
    """A store as its operator's metadata names it; ``ids`` are the names of the operator's files,
    partition by partition and store by store, and empty in checkpoint format 1.
    """

    operator: int
    operator_name: str
    name: str
    ids: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a task tells of a partition: ``kind`` is counted, read or written."""

    kind: str
    operator: int
    name: str
    partition: int
    rows: int
    checksum: int
    bytes: int
    misplaced: int
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStores:
    """Stores that tasks can open, and for each whether it has a key: one without keeps everything
    in partition 0, whatever the number of partitions.
    """

    stores: tuple[KeptStore, ...]
    keyed: tuple[bool, ...]
    java: Any


class StateRewrite:
    """Runs jobs over the partitions of stores.

    * Calls: the source ``statestore`` with the option that reads all column families, what its scan
      sends to executors (``StatePartitionReaderFactory``, ``StateStoreInputPartition``),
      ``RocksDBStateStoreProvider``, ``HDFSBackedStateStoreProvider`` and ``RocksDB`` by reflection,
      ``StatePartitionKeyExtractorFactory``, ``HashPartitioning.partitionIdExpression``.
    * Without them: RheostatError before anything is written.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._classes = classes

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return int(self._gateway.context.defaultParallelism)

    def open(
        self,
        checkpoint: str,
        planned: int,
        batch: int,
        settings: Mapping[str, str],
        rocksdb: bool,
        stores: Sequence[KeptStore],
    ) -> OpenStores:
        """Return stores as a batch has left them; ``planned`` is a batch that is in both logs,
        ``settings`` are those of the batch in the offset log. Raises RheostatError where this Spark
        cannot read them.
        """
        try:
            session = self._session(settings)
            opened = [self._scan(session, checkpoint, planned, rocksdb, store) for store in stores]
            java = self._described(stores, opened, batch, rocksdb, settings)
        except (Py4JError, TypeError, AttributeError) as fault:
            raise RheostatError(
                f"this Spark cannot read the state: {said_by_java(fault)}"
            ) from None
        return OpenStores(
            stores=tuple(stores), keyed=tuple(keyed for _, _, keyed in opened), java=java
        )

    def measure(
        self,
        stores: OpenStores,
        parts: Sequence[tuple[int, int]],
        partitions: int,
        progress: Progress | None,
    ) -> list[Told]:
        """Count partitions of stores (number of the store, partition)."""
        task = self._made("MeasureState", stores.java, partitions)
        return self._told(self._rows(parts).mapPartitions(task), progress)

    def rewrite(
        self,
        stores: OpenStores,
        groups: Sequence[tuple[int, int, int, int, int]],
        batch: int,
        progress: Progress | None,
    ) -> list[Told]:
        """Rewrite groups (store, old and new number of partitions, residue, divisor), each in one
        task.
        """
        task = self._made("RewriteState", stores.java, batch)
        return self._told(self._rows(groups).mapPartitions(task), progress)

    def shuffle(
        self,
        stores: OpenStores,
        parts: Sequence[tuple[int, int, int, int]],
        partitions: int,
        batch: int,
        progress: Progress | None,
    ) -> list[Told]:
        """Rewrite all stores: old partitions (store, old and new number, partition) are split, and
        the pieces go to the new ones by a shuffle.
        """
        last = len(stores.stores) * partitions
        split = self._made("SplitState", stores.java, last)
        merge = self._made("MergeState", stores.java, batch, partitions, last)
        to_all = self._jvm.org.apache.spark.HashPartitioner(last + 1)
        pieces = self._rows(parts).flatMapToPair(split).partitionBy(to_all)
        return self._told(pieces.mapPartitionsWithIndex(merge, False), progress)

    def read_otherwise(
        self, stores: OpenStores, parts: Sequence[tuple[int, int, int, int]]
    ) -> list[Told]:
        """Read in the ways that are not taken, to measure them (``ReadWays``)."""
        return self._told(
            self._rows(parts).mapPartitions(self._made("ReadWays", stores.java)), None
        )

    def write(self, file: str, text: str) -> None:
        """Write a small file as Spark writes its own: whole, or not at all."""
        path = self._jvm.org.apache.hadoop.fs.Path(file)
        manager = self._checkpoint_files().create(path.getParent(), self._hadoop())
        manager.mkdirs(path.getParent())
        stream = manager.createAtomic(path, True)
        stream.write(bytearray(text.encode()))
        stream.close()

    def delete(self, files: Iterable[str]) -> None:
        """Delete files; one that is not there is no fault."""
        for file in files:
            path = self._jvm.org.apache.hadoop.fs.Path(file)
            path.getFileSystem(self._hadoop()).delete(path, False)

    def _checkpoint_files(self) -> Any:
        streaming = self._jvm.org.apache.spark.sql.execution.streaming
        return streaming.checkpointing.CheckpointFileManager

    def _hadoop(self) -> Any:
        return self._gateway.spark._jsparkSession.sessionState().newHadoopConf()

    def _session(self, settings: Mapping[str, str]) -> Any:
        session = self._gateway.spark.newSession()
        for name, value in settings.items():
            session.conf.set(name, value)
        return session

    def _scan(
        self, session: Any, checkpoint: str, planned: int, rocksdb: bool, store: KeptStore
    ) -> tuple[Any, Any, bool]:
        """Return what opens partitions of a store, a sample of what it is told, and whether the
        store has a key.
        """
        frame = (
            session.read.format("statestore")
            .option("batchId", planned)
            .option("operatorId", store.operator)
            .option("storeName", store.name)
            # Only RocksDB has more than one family, and Spark allows this for RocksDB only.
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

    def _made(self, name: str, *parts: Any) -> Any:
        return self._constructors[name].newInstance(
            self._gateway.array(self._jvm.java.lang.Object, parts)
        )

    def _rows(self, rows: Sequence[Sequence[int]]) -> Any:
        made = [self._gateway.array(self._jvm.int, row) for row in rows]
        return self._gateway.context._jsc.parallelize(self._gateway.listed(made), len(made))

    def _told(self, job: Any, progress: Progress | None) -> list[Told]:
        self._gateway.context.setJobGroup(JOB, JOB, interruptOnCancel=True)
        running = job.collectAsync()
        while not running.isDone():
            time.sleep(_LOOK_S)
            if progress is not None:
                self._look(running, progress)
        try:
            return [_parsed(str(line)) for line in running.get()]
        except Py4JJavaError as fault:
            raise RheostatError(f"a task failed: {said_by_java(fault)}") from None

    def _look(self, running: Any, progress: Progress) -> None:
        """Tell how many tasks of a job are done."""
        tracker = self._gateway.context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in running.jobIds()]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        known = [stage for stage in stages if stage is not None]
        if known:
            done = sum(stage.numCompletedTasks for stage in known)
            progress(done, sum(stage.numTasks for stage in known))

    @functools.cached_property
    def _reads_all_families(self) -> str:
        """The reader's option that is meant for Spark's own use."""
        source = self._jvm.org.apache.spark.sql.execution.datasources.v2.state
        return str(source.StateSourceOptions.INTERNAL_ONLY_READ_ALL_COLUMN_FAMILIES())

    @functools.cached_property
    def _constructors(self) -> dict[str, Any]:
        return self._classes.all_on_executors(_CLASSES)


def _parsed(line: str) -> Told:
    kind, operator, name, *numbers, store_id = line.split("\t")
    partition, rows, checksum, size, misplaced = map(int, numbers)
    return Told(
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
