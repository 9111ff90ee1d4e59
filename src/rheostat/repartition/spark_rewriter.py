"""Rewrites state with Spark jobs: read version N + 1, write version N + 2 with new partitions."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.local.local_session import replay_session
from rheostat.local.spark_home import find_spark_home
from rheostat.repartition.checkpoint import (
    FORMAT,
    Checkpoint,
    Operator,
    operator_metadata,
    read_checkpoint,
)
from rheostat.repartition.groups import groups, noted, slices
from rheostat.repartition.inspection import require_repartitionable
from rheostat.repartition.state_engine import (
    Progress,
    Rewrite,
    Rewritten,
    StateIds,
    StateVersion,
    StoreCount,
    StoreId,
)
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.hadoop_file_system import session_files
from rheostat.spark.internals.state_rewrite import (
    KeptStore,
    OpenStores,
    PartitionReport,
    StateRewrite,
    parsed_line,
)
from rheostat.spark.sensing.query_shape import FILES, checkpoint_files_class, rescaling_means
from rheostat.storage.file_system import FileSystem, StorageError, is_remote

WAY_OUT = "install PySpark 4.3 for this command; the query may stay on Spark 4.0 or later"


@contextmanager
def own_session() -> Iterator[Any]:
    """Yield a session and stop it; raises BadInput if this Python has an older Spark."""
    require_spark(find_spark_home().version)
    with tempfile.TemporaryDirectory(prefix="rheostat-state-") as folder:
        options = {
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
            # With the HDFS-backed provider, one partition per core must fit into the heap.
            "spark.driver.memory": "2g",
        }
        with replay_session("local[*]", "rheostat state", options) as session:
            yield session


def require_spark(version: str, way_out: str = WAY_OUT) -> None:
    """Raise BadInput with a ``way_out`` for a Spark version that is too old, such as ``4.2.1``."""
    if rescaling_means(version) != "own":
        raise BadInput(f"PySpark {version} cannot read the stored state: {way_out}")


_ESCAPED = re.compile(r"[^\w\-!.~'()*,;:$&+=/@]")
"""Characters that the path of a URI must escape; letters and digits of all alphabets may stay."""


class SparkRewriter:
    """Rewrites state with a session of Spark 4.3 (classic), for the port ``Rewriter``.

    Raises RheostatError if this Spark cannot read the state.
    """

    def __init__(self, spark: Any) -> None:
        gateway = Gateway(spark)
        self._version = str(spark.version)
        self.files = session_files(gateway)
        self._jobs = StateRewrite(gateway, CompiledClasses(gateway))
        self._paths = PlainPaths()

    def measure(self, state: StateVersion) -> Mapping[StoreId, StoreCount]:
        """Return the counts of every store."""
        return _by_store(self.measure_partitions(state), "counted")

    def measure_partitions(self, state: StateVersion) -> list[PartitionReport]:
        """Return the counts of every partition of every store."""
        reports: list[PartitionReport] = []
        for keyed in self._opened(state):
            count = _partitions(keyed, state.partitions)
            parts = [
                (store, partition)
                for store in range(len(keyed.stores))
                for partition in range(count)
            ]
            reports += self._jobs.measure(keyed, parts, count, None)
        return reports

    def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
        """Write every store with the wanted number of partitions."""
        checkpoint = self._read(wanted.source)
        require_repartitionable(checkpoint)
        reports: list[PartitionReport] = []
        for keyed in self._opened(wanted.source):
            reports += self._rewritten(keyed, wanted, progress)
        for operator in checkpoint.operators:
            self._write_metadata(operator, wanted)
        return Rewritten(
            before=_by_store(reports, "read"),
            after=_by_store(reports, "written"),
            ids=_ids(checkpoint.operators, reports),
        )

    def _rewritten(
        self, stores: OpenStores, wanted: Rewrite, progress: Progress | None
    ) -> list[PartitionReport]:
        old, new = (
            _partitions(stores, count) for count in (wanted.source.partitions, wanted.partitions)
        )
        count = len(stores.stores)
        parts_of_group = slices(old, new, count, self._jobs.slots, in_memory=not stores.rocksdb)
        if not parts_of_group:
            parts = [(store, old, new, part) for store in range(count) for part in range(old)]
            return self._jobs.shuffle(stores, parts, new, wanted.batch, progress)
        reports: list[PartitionReport] = []
        tasks = []
        for group in groups(old, new):
            for number, store in enumerate(stores.stores):
                for part in range(parts_of_group):
                    place = (group.residue, part, parts_of_group)
                    done = noted(wanted.notes, store.operator, store.name, *place)
                    reports += map(parsed_line, done)
                    if not done:
                        tasks.append((number, old, new, group.residue, group.divisor, *place[1:]))
        if not tasks:
            return reports
        return reports + self._jobs.rewrite(stores, tasks, wanted.batch, wanted.notes, progress)

    def _opened(self, state: StateVersion) -> Iterator[OpenStores]:
        """Yield the stores with a key, then those without."""
        checkpoint = self._read(state)
        kept = [store for operator in checkpoint.operators for store in _kept(operator, state.ids)]
        opening = functools.partial(
            self._jobs.open,
            self._paths.of(checkpoint.location),
            checkpoint.committed.batch,
            state.batch,
            {**state.settings, **self._own_settings(state)},
            checkpoint.is_rocksdb,
        )
        opened = opening(kept)
        for has_key in (True, False):
            chosen = [
                store for store, keyed in zip(kept, opened.keyed, strict=True) if keyed == has_key
            ]
            if len(chosen) == len(kept):
                yield opened
            elif chosen:
                yield opening(chosen)

    def _own_settings(self, state: StateVersion) -> dict[str, str]:
        """Return the settings that the offset log lacks: the checkpoint's format and the class that
        writes files. On a local disk Spark's default class starts several processes per file, which
        dominates the time of many small partitions.
        """
        settings = {FORMAT: "2" if state.ids else "1"}
        if not is_remote(state.checkpoint):
            settings[FILES] = checkpoint_files_class(self._version)
        return settings

    def _read(self, state: StateVersion) -> Checkpoint:
        return read_checkpoint(state.checkpoint, self.files)

    def _write_metadata(self, operator: Operator, wanted: Rewrite) -> None:
        """Write an operator's versioned metadata, if it has one, with the new number."""
        if operator.metadata_format == 1:
            return
        folder = f"{wanted.source.checkpoint}/state/{operator.id}/_metadata/v2"
        text = operator_metadata(operator.text, wanted.partitions)
        self.files.write(f"{folder}/{wanted.batch}", text)


def reachable_files(spark: Any, location: str) -> FileSystem:
    """Return the file system of a checkpoint; raises BadInput if a session cannot reach it."""
    files = session_files(Gateway(spark))
    try:
        files.names(location)
    except StorageError as fault:
        raise BadInput(str(fault)) from None
    return files


class PlainPaths:
    """Links with plain names to folders whose own names Spark's state reader rejects.

    Spark 4.3 escapes a checkpoint's name for its reader (``a b`` becomes ``a%20b``) and then looks
    for a folder with the escaped name (``StateSourceOptions``). The links are in a temporary
    folder, which is deleted with this object.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._links: dict[str, str] = {}

    def of(self, location: str) -> str:
        """Return a path to the same folder without characters to escape; the location itself if it
        has none, or if it is not on this computer.
        """
        if is_remote(location) or not _ESCAPED.search(location):
            return location
        if location not in self._links:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="rheostat-path-")
            link = Path(self._folder.name) / str(len(self._links))
            link.symlink_to(Path(location).absolute(), target_is_directory=True)
            self._links[location] = str(link)
        return self._links[location]


def _kept(operator: Operator, ids: StateIds) -> Iterator[KeptStore]:
    for store in operator.stores:
        yield KeptStore(
            operator=operator.id,
            operator_name=operator.name,
            name=store,
            ids=ids.get(str(operator.id), ()),
        )


def _partitions(stores: OpenStores, partitions: int) -> int:
    return partitions if stores.keyed[0] else 1


def _by_store(reports: Iterable[PartitionReport], kind: str) -> dict[StoreId, StoreCount]:
    counts: dict[StoreId, StoreCount] = {}
    for report in reports:
        if report.kind == kind:
            store = StoreId(report.operator, report.name)
            counts[store] = _sum(counts.get(store, StoreCount(0, 0, 0)), report)
    return dict(sorted(counts.items()))


def _sum(count: StoreCount, report: PartitionReport) -> StoreCount:
    return StoreCount(
        rows=count.rows + report.rows,
        # As a signed 64-bit integer.
        checksum=(count.checksum + report.checksum + 2**63) % 2**64 - 2**63,
        bytes=count.bytes + report.bytes,
        misplaced=count.misplaced + report.misplaced,
    )


def _ids(operators: Iterable[Operator], reports: Iterable[PartitionReport]) -> StateIds:
    names = {
        (report.operator, report.name, report.partition): report.id
        for report in reports
        if report.kind == "written" and report.id
    }
    ids: dict[str, tuple[tuple[str, ...], ...]] = {}
    for operator in operators:
        parts = sorted({part for number, _, part in names if number == operator.id})
        if parts:
            ids[str(operator.id)] = tuple(
                tuple(names[operator.id, store, part] for store in operator.stores)
                for part in parts
            )
    return ids
