"""Jobs that copy state byte for byte into other partitions (``java/executor/``)."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rheostat.errors import RheostatError
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import RAISED, Gateway, java_message
from rheostat.spark.internals.state.opened_stores import OpenStores, StateStores

JOB = "rheostat rewrites state"
"""The name of these jobs in Spark's UI and event log."""

_CLASSES = (
    *(
        "Hidden",
        "Scratch",
        "Tally",
        "StateStores",
        "Families",
        "LinkedFiles",
        "OpenedState",
        "MergedState",
        "NewState",
    ),
    *("Runs", "MeasureState", "RewriteState", "SplitState", "MergeState", "ReadWays"),
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
    """Runs jobs over the partitions of stores.

    * Calls: ``RocksDBStateStoreProvider``, ``HDFSBackedStateStoreProvider`` and ``RocksDB`` by
      reflection, ``StatePartitionKeyExtractorFactory``, ``HashPartitioning.partitionIdExpression``.
    * Without them: RheostatError before anything is written.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._classes = classes

    @functools.cached_property
    def stores(self) -> StateStores:
        """The object that opens stores."""
        return StateStores(self._gateway, lambda parts: self._made("StateStores", *parts))

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

    def read_otherwise(
        self, stores: OpenStores, parts: Sequence[tuple[int, int, int, int]]
    ) -> list[PartitionReport]:
        """Read with the unused methods, to measure them (``ReadWays``)."""
        return self._reports(
            self._rows(parts).mapPartitions(self._made("ReadWays", stores.java)), None
        )

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
        return self._classes.all_on_executors(_CLASSES)


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
