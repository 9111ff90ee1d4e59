"""Checkpoints with various user settings: the command repartitions each, though its own session
knows only the settings in the offset log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from tests.e2e.repartition.left_alone import PROVIDERS, check, configure
from tests.e2e.repartition.stateful_cases import CASES, JOIN_FORMAT, Case, run, write_file
from tests.e2e.repartition.test_state_variables import CASES as VARIABLES

from rheostat.errors import RheostatError
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.spark_repartition import repartition
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.spark.sensing.query_shape import CHANGELOG
from rheostat.storage.local_files import LocalFileSystem

pytestmark = pytest.mark.e2e

STREAMING = "spark.sql.streaming"
STORE = f"{STREAMING}.stateStore"
ROCKS = f"{STORE}.rocksdb"
PARTITIONS = (4, 6, 3)


def quiet(*_: object) -> None:
    """Do nothing: every query here has ended."""


def by_command(spark: SparkSession, checkpoint: Path, partitions: int) -> None:
    """Run the complete protocol, which loads the new state again and compares it."""
    state = repartition(
        str(checkpoint), partitions, lambda _: SparkRewriter(spark), check_stopped=quiet
    )
    assert state.phase == "done"
    assert read_checkpoint(str(checkpoint), LocalFileSystem()).partitions == partitions


def rows_in_state(spark: SparkSession, checkpoint: Path) -> list[str]:
    """Return all rows of all stores, read by Spark's own state reader."""
    stored_rows = []
    for operator in read_checkpoint(str(checkpoint), LocalFileSystem()).operators:
        for store in operator.stores:
            reader = spark.newSession().read.format("statestore")
            reader = reader.option("operatorId", operator.id).option("storeName", store)
            rows = reader.load(str(checkpoint)).select("key", "value").collect()
            stored_rows += [f"{operator.id} {store} {row}" for row in rows]
    return sorted(stored_rows)


def assert_continues(
    spark: SparkSession,
    folder: Path,
    case: Case,
    provider: str,
    settings: Mapping[str, str],
    partitions: Sequence[int] = PARTITIONS,
) -> None:
    wanted = replace(case, settings={**case.settings, **settings})
    check(spark, folder, wanted, provider, partitions, rewritten=by_command)


JOIN = CASES["join-and-windows"]
FAMILIES = replace(JOIN, settings={JOIN_FORMAT: "3"})
"""A join with one store with column families, and one without."""

OF_ROCKSDB: dict[str, Mapping[str, str]] = {
    "rows are not counted": {f"{ROCKS}.trackTotalNumberOfRows": "false"},
    "format 3 of RocksDB": {f"{ROCKS}.formatVersion": "3"},
    "format 6 of RocksDB": {f"{ROCKS}.formatVersion": "6"},
    "blocks of 64 kB": {f"{ROCKS}.blockSizeKB": "64", f"{ROCKS}.blockCacheSizeMB": "1"},
    "compressed by zstd": {f"{ROCKS}.compression": "zstd", f"{STORE}.compression.codec": "zstd"},
    "compressed by snappy": {
        f"{ROCKS}.compression": "snappy",
        f"{STORE}.compression.codec": "snappy",
    },
    "not compressed": {f"{ROCKS}.compression": "none", f"{STORE}.compression.codec": "lzf"},
    "compacted": {f"{ROCKS}.compactOnCommit": "true"},
    "bounded memory": {
        f"{ROCKS}.boundedMemoryUsage": "true",
        f"{ROCKS}.maxMemoryUsageMB": "64",
        f"{ROCKS}.writeBufferSizeMB": "1",
        f"{ROCKS}.maxWriteBufferNumber": "3",
        f"{ROCKS}.maxOpenFiles": "20",
    },
    "merged with commas": {f"{ROCKS}.mergeOperatorVersion": "1"},
    "sums of rows": {
        f"{STORE}.rowChecksum.enabled": "true",
        f"{STORE}.rowChecksum.readVerificationRatio": "1",
    },
    "no sums of files": {f"{STREAMING}.checkpoint.fileChecksum.enabled": "false"},
    "closed after each batch": {f"{STORE}.unloadOnCommit": "true"},
}
SOON = {
    f"{STORE}.minDeltasForSnapshot": "1",
    f"{STORE}.maintenanceInterval": "200ms",
    f"{STREAMING}.minBatchesToRetain": "2",
}


def test_rows_with_checksums_in_format_2_survive(spark, tmp_path):
    assert_continues(spark, tmp_path, FAMILIES, "format-2", OF_ROCKSDB["sums of rows"], (2, 3))


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["snapshot", "changelog", "format-2"])
@pytest.mark.parametrize("name", OF_ROCKSDB)
def test_every_rocksdb_setting_survives(spark, tmp_path, provider, name):
    assert_continues(spark, tmp_path, FAMILIES, provider, OF_ROCKSDB[name])


@pytest.mark.thorough
def test_snapshots_in_format_2(spark, tmp_path):
    assert_continues(spark, tmp_path, FAMILIES, "format-2", {CHANGELOG: "false"})


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["merged with commas", "sums of rows", "rows are not counted"])
@pytest.mark.parametrize("provider", ["snapshot", "changelog", "format-2"])
@pytest.mark.parametrize("variables", ["python", "scala"])
def test_state_variables_survive_rocksdb_settings(spark, tmp_path, variables, name, provider):
    case = CASES["transform-with-state"] if variables == "python" else VARIABLES["of Scala"]
    assert_continues(spark, tmp_path, case, provider, OF_ROCKSDB[name])


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["snapshot", "changelog"])
def test_switching_the_changelog_between_starts_is_supported(spark, tmp_path, provider):
    other = {"snapshot": "true", "changelog": "false"}[provider]

    def later(rows: DataFrame) -> DataFrame:
        rows.sparkSession.conf.set(CHANGELOG, other)
        return JOIN.query(rows)

    assert_continues(spark, tmp_path, replace(FAMILIES, later=later), provider, {})


OF_HDFS = {
    **{codec: {f"{STORE}.compression.codec": codec} for codec in ("lz4", "lzf", "snappy", "zstd")},
    "sums of rows": OF_ROCKSDB["sums of rows"],
    "closed after each batch": OF_ROCKSDB["closed after each batch"],
    "kept in memory once": {f"{STREAMING}.maxBatchesToRetainInMemory": "0"},
}


def test_rows_with_checksums_on_hdfs_survive(spark, tmp_path):
    assert_continues(spark, tmp_path, JOIN, "hdfs", OF_HDFS["sums of rows"], (2, 3))


@pytest.mark.thorough
@pytest.mark.parametrize("name", OF_HDFS)
def test_every_setting_of_the_default_provider(spark, tmp_path, name):
    assert_continues(spark, tmp_path, JOIN, "hdfs", OF_HDFS[name])


OF_QUERIES: dict[str, tuple[str, Mapping[str, str]]] = {
    "aggregation 1": ("count", {f"{STREAMING}.aggregation.stateFormatVersion": "1"}),
    "aggregation 1, windows": ("windows", {f"{STREAMING}.aggregation.stateFormatVersion": "1"}),
    "aggregation 1, sets": ("distinct", {f"{STREAMING}.aggregation.stateFormatVersion": "1"}),
    "aggregation 1, total": ("total", {f"{STREAMING}.aggregation.stateFormatVersion": "1"}),
    "groups 1": (
        "groups-with-state",
        {f"{STREAMING}.flatMapGroupsWithState.stateFormatVersion": "1"},
    ),
    "groups of Pandas 1": (
        "pandas-with-state",
        {f"{STREAMING}.flatMapGroupsWithState.stateFormatVersion": "1"},
    ),
    "sessions merged early": (
        "sessions",
        {f"{STREAMING}.sessionWindow.merge.sessions.in.local.partition": "true"},
    ),
    "distribution of Spark 3.2": (
        "windows",
        {f"{STREAMING}.statefulOperator.useStrictDistribution": "false"},
    ),
    "columns that are never null": (
        "join-and-windows",
        {f"{STREAMING}.statefulOperator.alwaysNullableOutput.enabled": "false"},
    ),
    "the latest watermark": ("outer-join", {f"{STREAMING}.multipleWatermarkPolicy": "max"}),
    "no batch without rows": ("windows", {f"{STREAMING}.noDataMicroBatches.enabled": "false"}),
    "nulls are skipped": ("inner-join", {f"{STORE}.skipNullsForStreamStreamJoins": "true"}),
    "format 2 of the offset log": ("count", {f"{STREAMING}.offsetLog.formatVersion": "2"}),
    "rows are evicted as others come": (
        "windows",
        {f"{STREAMING}.statefulOperator.incrementalCleanupFactor": "2"},
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["hdfs", "snapshot", "changelog", "format-2"])
@pytest.mark.parametrize("name", OF_QUERIES)
def test_query_formats_and_settings_survive(spark, tmp_path, name, provider):
    case, settings = OF_QUERIES[name]
    assert_continues(spark, tmp_path, CASES[case], provider, settings)


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["hdfs", "changelog", "format-2"])
def test_concurrent_maintenance_is_tolerated(spark, tmp_path, provider):
    configured = replace(JOIN, settings=SOON)
    check(spark, tmp_path, configured, provider, PARTITIONS, 6, rewritten=by_command)


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["hdfs", "changelog"])
def test_a_separate_number_of_state_partitions_is_supported(spark, tmp_path, provider):
    apart = {f"{STREAMING}.internal.stateStore.partitions": "5"}
    assert_continues(spark, tmp_path, CASES["count"], provider, apart, (8, 6, 3))


def large_values(rows: DataFrame) -> DataFrame:
    """Return values from a few bytes to more than a megabyte; the output contains their digest."""
    long = sql.expr("repeat(concat(key, ' ', side), cast(pow(10, number % 6) as int))")
    rows_in_state = rows.groupBy("key").agg(sql.max_by(long, sql.length(long)).alias("long"))
    return rows_in_state.select("key", sql.length("long"), sql.md5("long"))


@pytest.mark.thorough
@pytest.mark.parametrize("provider", PROVIDERS)
def test_values_of_a_megabyte(spark, tmp_path, provider):
    assert_continues(spark, tmp_path, Case(large_values, "update"), provider, {})


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["hdfs", "changelog"])
def test_sparks_state_reader_returns_the_same_rows(spark, tmp_path, provider):
    configure(spark, PARTITIONS[0], PROVIDERS[provider])
    for file in range(2):
        write_file(tmp_path / "files", file)
    run(spark, JOIN, tmp_path / "files", tmp_path / "checkpoint")
    before = rows_in_state(spark, tmp_path / "checkpoint")
    assert before
    for partitions in PARTITIONS[1:]:
        by_command(spark, tmp_path / "checkpoint", partitions)
        assert rows_in_state(spark, tmp_path / "checkpoint") == before


def by_key_and_side(rows: DataFrame) -> DataFrame:
    return rows.repartition("key").groupBy("key", "side").count()


@pytest.mark.parametrize(
    "provider", [pytest.param("hdfs", marks=pytest.mark.thorough), "changelog"]
)
def test_state_with_a_mismatched_hash_from_spark_3_2_is_rejected(spark, tmp_path, provider):
    loose = {f"{STREAMING}.statefulOperator.useStrictDistribution": "false"}
    configure(spark, 4, {**PROVIDERS[provider], **loose})
    write_file(tmp_path / "files", 0)
    case = Case(by_key_and_side, "update")
    given = run(spark, case, tmp_path / "files", tmp_path / "checkpoint")
    with pytest.raises(RheostatError, match="belongs to partition") as refused:
        by_command(spark, tmp_path / "checkpoint", 6)
    assert len(str(refused.value).splitlines()) == 1
    write_file(tmp_path / "files", 1)
    given += run(spark, case, tmp_path / "files", tmp_path / "checkpoint")
    alone = run(spark, case, tmp_path / "files", tmp_path / "left alone")
    assert sorted(map(str, given)) == sorted(map(str, alone))


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["hdfs", "changelog"])
def test_the_streamlined_aggregation_is_rejected(spark, tmp_path, provider):
    streamlined = {f"{STREAMING}.useStreamlineAggregator": "true"}
    configure(spark, 4, {**PROVIDERS[provider], **streamlined})
    write_file(tmp_path / "files", 0)
    run(spark, CASES["windows"], tmp_path / "files", tmp_path / "checkpoint")
    with pytest.raises(
        RheostatError, match=r"StatefulStreamlineAggregate.*cannot be repartitioned"
    ) as refused:
        by_command(spark, tmp_path / "checkpoint", 6)
    assert len(str(refused.value).splitlines()) == 1
