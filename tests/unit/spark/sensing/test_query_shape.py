from __future__ import annotations

import pytest

from rheostat.model import Finding
from rheostat.spark.sensing.query_shape import (
    ROCKSDB,
    Query,
    checkpoint_files_class,
    shape,
)

GOOD = {
    "spark.sql.shuffle.partitions": "24",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": checkpoint_files_class("4.3.0"),
}


def about(
    topic: str, query: Query | None = None, checkpoint: str | None = None, **changes: str
) -> Finding | None:
    settings = {**GOOD, **{name.replace("__", "."): value for name, value in changes.items()}}
    found = shape(settings, query, spark_version="4.3.0", checkpoint=checkpoint)
    return next((each for each in found if each.topic.startswith(topic)), None)


def test_the_advised_shape_has_nothing_to_be_advised():
    query = Query(name="orders", state_partitions=24, slots=8, trigger_s=5.0, reads_all=False)
    assert {each.state for each in shape(GOOD, query, spark_version="4.3.0")} == {"good"}


def test_every_setting_that_is_advised_is_the_one_that_is_then_good():
    found = shape({}, spark_version="4.3.0")
    advised = dict(each.setting.split("=", 1) for each in found if each.setting)
    again = shape(advised, spark_version="4.3.0")
    assert [each.topic for each in again if each.state == "advice"] == [
        "state store"
    ]  # the changelog is recommended once the provider is RocksDB
    advised |= dict(each.setting.split("=", 1) for each in again if each.setting)
    assert {each.state for each in shape(advised, spark_version="4.3.0")} == {"good"}


def test_200_state_partitions_are_said_with_their_cost():
    found = about("state partitions of orders", Query(name="orders", state_partitions=200))
    assert found
    assert found.state == "advice"
    assert "200 cost 2.8 to 9.0 s of slot time in every batch" in found.line


def test_more_slots_than_state_partitions_are_said_with_the_number_that_would_help():
    found = about("state partitions of orders", Query(name="orders", state_partitions=24, slots=32))
    assert found
    assert found.line.startswith("24 cannot use 32 slots: 32 or more partitions would")
    assert "rheostat state repartition CHECKPOINT --partitions 48 changes it" in found.line


def test_other_state_partitions_are_advised_as_this_spark_allows():
    query = Query(name="orders", state_partitions=200)
    older, oldest = (
        next(
            each.line
            for each in shape(GOOD, query, spark_version=spark, checkpoint="/c")
            if each.topic == "state partitions of orders"
        )
        for spark in ("4.0.0", "3.5.7")
    )
    assert "repartition /c --partitions 24 of a Python with PySpark 4.3 changes it" in older
    assert "a first start, without a checkpoint, with spark.sql.shuffle.partitions=24" in oldest


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [("/data/c", True), ("file:/data/c", True), (None, True), ("s3a://bucket/c", False)],
)
def test_the_file_manager_is_advised_for_local_disks_only(checkpoint, said):
    assert (
        bool(
            about(
                "checkpoint files",
                checkpoint=checkpoint,
                spark__sql__streaming__checkpointFileManagerClass="other",
            )
        )
        is said
    )


def test_batches_back_to_back_and_batches_without_a_bound_are_advised_against():
    query = Query(name="q", state_partitions=24, trigger_s=0.0, reads_all=True)
    assert [each.state for each in shape(GOOD, query, spark_version="4.3.0")][-2:] == [
        "advice",
        "advice",
    ]


def test_what_is_not_known_of_a_query_is_not_said():
    assert shape(GOOD, Query(), spark_version="4.3.0") == shape(GOOD, spark_version="4.3.0")


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("3.5.7", "streaming"),
        ("4.0.0", "streaming"),
        ("4.1.0", "streaming.checkpointing"),
        ("4.3.0", "streaming.checkpointing"),
        ("5.0.0.dev1", "streaming.checkpointing"),
    ],
)
def test_the_checkpoint_s_file_manager_has_moved_with_spark_4_1(version, package):
    assert (
        checkpoint_files_class(version)
        == f"org.apache.spark.sql.execution.{package}.FileSystemBasedCheckpointFileManager"
    )
