"""A query whose state is repartitioned, compared with an uninterrupted run: equal output, equal
state.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession
from tests.e2e.repartition.committed_rewrite import repartition, wanted
from tests.e2e.repartition.stateful_cases import Case, run, write_file

from rheostat.repartition.checkpoint import missing_file
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.repartition.state_engine import StoreCount, StoreId
from rheostat.spark.sensing.query_shape import (
    CHANGELOG,
    FILES,
    PROVIDER,
    ROCKSDB,
    SHUFFLE_PARTITIONS,
)

FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
PROVIDERS = {
    "hdfs": {},
    "snapshot": {PROVIDER: ROCKSDB},
    "changelog": {PROVIDER: ROCKSDB, CHANGELOG: "true"},
    "format-2": {PROVIDER: ROCKSDB, CHANGELOG: "true", FORMAT: "2"},
}
QUICK_FILES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    FILES: QUICK_FILES,
}


def configure(spark: SparkSession, partitions: int, settings: Mapping[str, str]) -> None:
    """Apply these settings to a session, and remove those of other cases."""
    for name in set(spark.conf.getAll) - set(OPTIONS):
        if name.startswith("spark.sql.streaming."):
            spark.conf.unset(name)
    for name, value in {**settings, SHUFFLE_PARTITIONS: str(partitions)}.items():
        spark.conf.set(name, value)


def content(count: StoreCount) -> tuple[int, int]:
    """Return the values that are equal for two stores with the same rows."""
    return count.rows, count.checksum


def _rewrite(spark: SparkSession, checkpoint: Path, partitions: int) -> None:
    assert missing_file(wanted(checkpoint, partitions)[0]) is None
    done = repartition(spark, checkpoint, partitions)
    assert done.before
    assert all(content(done.after[store]) == content(count) for store, count in done.before.items())
    known, _ = wanted(checkpoint, partitions)
    assert known.partitions == partitions
    counted = _counted(spark, checkpoint)
    assert all(content(counted[store]) == content(count) for store, count in done.before.items())
    assert [count.misplaced for count in counted.values()] == [0] * len(counted)


def check(
    spark: SparkSession,
    folder: Path,
    case: Case,
    provider: str,
    partitions: Sequence[int],
    files_a_part: int = 1,
    rewritten: Callable[[SparkSession, Path, int], None] = _rewrite,
) -> None:
    """Run a part of the files with each number of partitions, with a rewrite between two parts, and
    compare the output and the number of state rows with an uninterrupted run.
    """
    configure(spark, partitions[0], {**PROVIDERS[provider], **case.settings})
    files, changed, alone = (folder / name for name in ("files", "checkpoint", "left alone"))
    given, uninterrupted = [], []
    for part, number in enumerate(partitions):
        if part:
            rewritten(spark, changed, number)
        for file in range(part * files_a_part, (part + 1) * files_a_part):
            write_file(files, file)
        given += run(spark, case, files, changed, part)
        if case.tells_stops and part == 0:
            uninterrupted = list(given)
            shutil.copytree(changed, alone)
        elif case.tells_stops or part == len(partitions) - 1:
            uninterrupted += run(spark, case, files, alone, part)
    assert sorted(map(str, given)) == sorted(map(str, uninterrupted))
    assert given
    assert _kept(spark, changed) == _kept(spark, alone)


def _counted(spark: SparkSession, checkpoint: Path) -> Mapping[StoreId, StoreCount]:
    return SparkRewriter(spark).measure(wanted(checkpoint, 1)[0].state)


def _kept(spark: SparkSession, checkpoint: Path) -> dict[StoreId, int]:
    """Return the rows of every store; their bytes may differ, because they encode arrival order."""
    return {store: count.rows for store, count in _counted(spark, checkpoint).items()}
